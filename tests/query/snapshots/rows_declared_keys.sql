SELECT
  deniable_keys.g0,
  COALESCE(found.m0, 0) AS m0,
  COALESCE(found.m1, 0) AS m1,
  COALESCE(found.m2, 0) AS m2,
  COALESCE(found.m3, 0) AS m3
FROM deniable_keys
LEFT JOIN (
  SELECT
    place,
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
      deniable_keys.place,
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
    JOIN deniable_keys
      ON "source"."hue" = deniable_keys.h0
  ) AS source
  GROUP BY
    place
) AS found
  USING (place)
ORDER BY
  deniable_keys.place NULLS FIRST
