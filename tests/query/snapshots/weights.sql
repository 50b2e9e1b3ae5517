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
      NOT "source"."person" IS NULL
  ) AS source
  GROUP BY
    unit,
    g0,
    g1
) AS counted;

SELECT
  unit,
  COUNT(*) AS m
FROM deniable_pairs
GROUP BY
  unit;

SELECT
  LEAST(m, 100) AS m,
  COUNT(*) AS units
FROM deniable_widths
GROUP BY
  1;

SELECT
  g0,
  g1,
  CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(w), 0))) AS BIGINT) AS m0,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(SUM(CAST(v1 AS BIGINT) * w), 0))
  ) AS BIGINT) AS m1,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(SUM(CAST(v2 AS BIGINT) * w), 0))
  ) AS BIGINT) AS m2,
  CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(SUM(CAST(v3 AS BIGINT) * w), 0))
  ) AS BIGINT) AS m3
FROM (
  SELECT
    *
  FROM (
    SELECT
      deniable_pairs.*,
      m
    FROM deniable_pairs
    JOIN deniable_widths
      USING (unit)
    WHERE
      m <= 100
    UNION ALL
    SELECT
      deniable_pairs.*,
      100 AS m
    FROM deniable_pairs
    JOIN deniable_widths
      USING (unit)
    WHERE
      deniable_widths.m > 100
    QUALIFY
      COUNT(*) OVER (
        PARTITION BY unit
        ORDER BY HASH(HASH(g0, g1, unit, '0123456789abcdef0123456789abcdef')) NULLS FIRST
        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) <= 100
  ) AS kept
  JOIN deniable_weights
    USING (m)
) AS kept
GROUP BY
  g0,
  g1
