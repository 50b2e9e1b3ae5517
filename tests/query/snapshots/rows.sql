SELECT
  g0,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(CAST(COUNT(*) AS INT128) * 1048576, 0))
  ) AS BIGINT) AS m0,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(CAST(COUNT(*) AS INT128) * 1048576, 0))
  ) AS BIGINT) AS m1,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(CAST(COUNT(x3) AS INT128) * 1048576, 0))
  ) AS BIGINT) AS m2,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(CAST(SUM(x3) AS INT128) * 1048576, 0))
  ) AS BIGINT) AS m3
FROM (
  SELECT
    1 AS present,
    "source"."hue" AS g0,
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
) AS source
GROUP BY
  g0
