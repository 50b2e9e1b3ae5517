SELECT
  1 AS present,
  deniable_keys.place,
  CASE
    WHEN NOT ISFINITE(CAST("source"."age" AS DOUBLE))
    OR CAST("source"."age" AS DOUBLE) IS NULL
    OR CAST("source"."age" AS DOUBLE) < CAST('0.0' AS DOUBLE)
    OR CAST("source"."age" AS DOUBLE) > CAST('65.5' AS DOUBLE)
    THEN NULL
    WHEN CAST("source"."age" AS DOUBLE) < CAST('18.0' AS DOUBLE)
    THEN 0
    ELSE 1
  END AS x1
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
JOIN deniable_keys
  ON "source"."hue" = deniable_keys.h0;

SELECT
  deniable_keys.g0,
  COALESCE(found.m0, 0) AS m0,
  found.m1 AS m1
FROM deniable_keys
LEFT JOIN (
  SELECT
    alone.place,
    alone.m0,
    l1.m1
  FROM (
    SELECT
      place,
      CAST(GREATEST(
        -4611686018427387904,
        LEAST(4611686018427387904, COALESCE(CAST(COUNT(*) AS INT128) * 1048576, 0))
      ) AS BIGINT) AS m0
    FROM deniable_rows AS source
    GROUP BY
      place
  ) AS alone
  LEFT JOIN (
    SELECT
      place,
      ARRAY_AGG({'leaf': leaf, 'number': number}) AS m1
    FROM (
      SELECT
        place,
        leaf,
        CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
      FROM (
        SELECT
          place,
          x1 AS leaf,
          CAST(1048576 AS INT128) AS number
        FROM deniable_rows
        WHERE
          NOT x1 IS NULL
      ) AS shares
      GROUP BY
        place,
        leaf
    ) AS summed
    GROUP BY
      place
  ) AS l1
    ON alone.place IS NOT DISTINCT FROM l1.place
) AS found
  USING (place)
ORDER BY
  deniable_keys.place NULLS FIRST
