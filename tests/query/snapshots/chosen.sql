SELECT
  1 AS present,
  "source"."person" AS unit,
  "source"."hue" AS g0,
  "source"."year" AS g1,
  CASE
    WHEN NOT ISFINITE("source"."spend")
    OR "source"."spend" IS NULL
    OR "source"."spend" < CAST('-1.0' AS DOUBLE)
    OR "source"."spend" > CAST('2.0' AS DOUBLE)
    THEN NULL
    WHEN "source"."spend" < CAST('0.0' AS DOUBLE)
    THEN 0
    ELSE 1
  END AS x2
FROM (
  SELECT
    "person",
    "hue",
    "year",
    "spend",
    "age",
    "paid",
    "free",
    "weight"
  FROM survey
) AS source
WHERE
  NOT "source"."person" IS NULL;

SELECT
  class,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
FROM (
  SELECT
    CASE WHEN m <= 1 THEN 0 ELSE 1 END AS class,
    CAST(1048576 AS INT128) AS number
  FROM (
    SELECT
      unit,
      COUNT(*) AS m
    FROM (
      SELECT DISTINCT
        unit,
        g0,
        g1
      FROM deniable_rows
    ) AS pairs
    GROUP BY
      unit
  ) AS most
) AS weighed
GROUP BY
  class;

SELECT
  class,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
FROM (
  SELECT
    CASE WHEN m <= 1 THEN 0 ELSE 1 END AS class,
    CAST(1048576 AS INT128) AS number
  FROM (
    SELECT
      unit,
      MAX(n) AS m
    FROM (
      SELECT
        unit,
        COUNT(*) AS n
      FROM deniable_rows
      GROUP BY
        unit,
        g0,
        g1
    ) AS pairs
    GROUP BY
      unit
  ) AS most
) AS weighed
GROUP BY
  class;

SELECT
  class,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
FROM (
  SELECT
    class,
    (
      CAST(1048576 AS INT128) * c
    ) // n AS number
  FROM (
    SELECT
      unit,
      x2 AS class,
      COUNT(*) AS c
    FROM deniable_rows
    WHERE
      NOT x2 IS NULL
    GROUP BY
      unit,
      x2
  ) AS counted
  JOIN (
    SELECT
      unit,
      COUNT(x2) AS n
    FROM deniable_rows
    GROUP BY
      unit
  ) AS all_values
    USING (unit)
) AS weighed
GROUP BY
  class;

SELECT
  class,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
FROM (
  SELECT
    x2 AS class,
    CAST(1048576 AS INT128) AS number
  FROM deniable_rows
  WHERE
    NOT x2 IS NULL
) AS weighed
GROUP BY
  class
