SELECT
  1 AS present,
  "source"."person" AS unit,
  "source"."hue" AS g0,
  "source"."year" AS g1,
  CASE
    WHEN ISFINITE("source"."spend")
    THEN CAST(GREATEST(
      -51200,
      LEAST(
        51200,
        (
          (
            CAST(FLOOR(
              GREATEST(
                CAST('-0.0009765625' AS DOUBLE),
                LEAST(CAST('100.0009765625' AS DOUBLE), "source"."spend")
              ) * CAST('2048.0' AS DOUBLE)
            ) AS BIGINT) + 1
          ) >> 1
        ) - 51200
      )
    ) AS BIGINT)
  END AS x3
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
  unit,
  g0,
  g1,
  CAST(LEAST(n1, 2) AS INT) AS v1,
  CAST(LEAST(n2, 2) AS INT) AS v2,
  CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN n3 > 2
        THEN (
          s3 // LEAST(n3, 2305843009213693952)
        ) * 2 + (
          (
            s3 % LEAST(n3, 2305843009213693952)
          ) * 2
        ) // LEAST(n3, 2305843009213693952)
        ELSE s3
      END
    )
  ) AS INT) AS v3
FROM (
  SELECT
    unit,
    g0,
    g1,
    COUNT(*) AS n1,
    COUNT(x3) AS n2,
    COUNT(x3) AS n3,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x3), 0))) AS BIGINT) AS s3
  FROM (
    SELECT
      *
    FROM deniable_rows
    WHERE
      NOT g0 IS NULL OR NOT g1 IS NULL
  ) AS source
  GROUP BY
    unit,
    g0,
    g1
) AS counted;

SELECT
  deniable_rows.*
FROM deniable_rows
ANTI JOIN deniable_named
  ON deniable_rows.g0 IS NOT DISTINCT FROM deniable_named.g0
  AND deniable_rows.g1 IS NOT DISTINCT FROM deniable_named.g1;

SELECT
  unit,
  CAST(LEAST(n1, 2) AS INT) AS v1,
  CAST(LEAST(n2, 2) AS INT) AS v2,
  CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN n3 > 2
        THEN (
          s3 // LEAST(n3, 2305843009213693952)
        ) * 2 + (
          (
            s3 % LEAST(n3, 2305843009213693952)
          ) * 2
        ) // LEAST(n3, 2305843009213693952)
        ELSE s3
      END
    )
  ) AS INT) AS v3
FROM (
  SELECT
    unit,
    COUNT(*) AS n1,
    COUNT(x3) AS n2,
    COUNT(x3) AS n3,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x3), 0))) AS BIGINT) AS s3
  FROM deniable_rows AS source
  GROUP BY
    unit
) AS counted;

SELECT
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(CAST(COUNT(*) AS INT128) * 1048576, 0))
  ) AS BIGINT) AS m0,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v1) * 1048576, 0))) AS BIGINT) AS m1,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v2) * 1048576, 0))) AS BIGINT) AS m2,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v3) * 1048576, 0))) AS BIGINT) AS m3
FROM (
  SELECT
    *
  FROM deniable_pairs
) AS kept
