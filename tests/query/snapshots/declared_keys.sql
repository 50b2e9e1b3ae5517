SELECT
  place,
  g0,
  CASE WHEN TRY(TRY_CAST(g0 AS TEXT) = g0) THEN TRY_CAST(g0 AS TEXT) END AS h0
FROM listed;

SELECT
  1 AS found
FROM deniable_keys
WHERE
  NOT h0 IS NULL
GROUP BY
  h0
HAVING
  COUNT(*) > 1;

SELECT
  unit,
  place,
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
    place,
    COUNT(*) AS n1,
    COUNT(x3) AS n2,
    COUNT(x3) AS n3,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x3), 0))) AS BIGINT) AS s3
  FROM (
    SELECT
      1 AS present,
      "source"."person" AS unit,
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
    WHERE
      NOT "source"."person" IS NULL
  ) AS source
  GROUP BY
    unit,
    place
) AS counted;

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
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v1) * 1048576, 0))) AS BIGINT) AS m1,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v2) * 1048576, 0))) AS BIGINT) AS m2,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(v3) * 1048576, 0))) AS BIGINT) AS m3
  FROM (
    SELECT
      *
    FROM deniable_pairs
    QUALIFY
      COUNT(*) OVER (
        PARTITION BY unit
        ORDER BY HASH(HASH(place, unit, '0123456789abcdef0123456789abcdef')) NULLS FIRST
        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) <= 3
  ) AS kept
  GROUP BY
    place
) AS found
  USING (place)
ORDER BY
  deniable_keys.place NULLS FIRST
