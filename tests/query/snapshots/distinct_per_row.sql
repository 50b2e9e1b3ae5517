SELECT
  1 AS present,
  "source"."hue" AS g0,
  "source"."free" AS x1
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
) AS source;

SELECT
  alone.g0,
  alone.m0,
  COALESCE(l1.m1, 0) AS m1
FROM (
  SELECT
    g0,
    CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(CAST(COUNT(*) AS INT128) * 1048576, 0))
    ) AS BIGINT) AS m0
  FROM deniable_rows AS source
  GROUP BY
    g0
) AS alone
LEFT JOIN (
  SELECT
    g0,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS m1
  FROM (
    SELECT
      g0,
      x1 AS value,
      MAX(1048576) AS number
    FROM deniable_rows
    WHERE
      NOT x1 IS NULL
    GROUP BY
      g0,
      x1
  ) AS valued
  GROUP BY
    g0
) AS l1
  ON alone.g0 IS NOT DISTINCT FROM l1.g0
