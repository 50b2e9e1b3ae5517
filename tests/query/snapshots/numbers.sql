SELECT
  unit,
  CAST(GREATEST(
    -120,
    LEAST(
      120,
      CASE
        WHEN n0 > 1
        THEN (
          s0 // LEAST(n0, 4611686018427387904)
        ) * 1 + (
          (
            s0 % LEAST(n0, 4611686018427387904)
          ) * 1
        ) // LEAST(n0, 4611686018427387904)
        ELSE s0
      END
    )
  ) AS INT) AS v0,
  CAST(GREATEST(
    -45,
    LEAST(
      45,
      CASE
        WHEN n1 > 3
        THEN (
          s1 // LEAST(n1, 1537228672809129301)
        ) * 3 + (
          (
            s1 % LEAST(n1, 1537228672809129301)
          ) * 3
        ) // LEAST(n1, 1537228672809129301)
        ELSE s1
      END
    )
  ) AS INT) AS v1,
  CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN n2 > 1
        THEN (
          s2 // LEAST(n2, 4611686018427387904)
        ) * 1 + (
          (
            s2 % LEAST(n2, 4611686018427387904)
          ) * 1
        ) // LEAST(n2, 4611686018427387904)
        ELSE s2
      END
    )
  ) AS INT) AS v2,
  CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN n3 > 1
        THEN (
          s3 // LEAST(n3, 4611686018427387904)
        ) * 1 + (
          (
            s3 % LEAST(n3, 4611686018427387904)
          ) * 1
        ) // LEAST(n3, 4611686018427387904)
        ELSE s3
      END
    )
  ) AS INT) AS v3,
  CAST(GREATEST(
    -1099511627776,
    LEAST(
      1099511627776,
      CASE
        WHEN n4 > 1
        THEN (
          s4 // LEAST(n4, 4611686018427387904)
        ) * 1 + (
          (
            s4 % LEAST(n4, 4611686018427387904)
          ) * 1
        ) // LEAST(n4, 4611686018427387904)
        ELSE s4
      END
    )
  ) AS BIGINT) AS v4,
  CAST(GREATEST(
    -450,
    LEAST(
      450,
      CASE
        WHEN n5 > 2
        THEN (
          s5 // LEAST(n5, 2305843009213693952)
        ) * 2 + (
          (
            s5 % LEAST(n5, 2305843009213693952)
          ) * 2
        ) // LEAST(n5, 2305843009213693952)
        ELSE s5
      END
    )
  ) AS INT) AS v5
FROM (
  SELECT
    unit,
    COUNT(x0) AS n0,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x0), 0))) AS BIGINT) AS s0,
    COUNT(x1) AS n1,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x1), 0))) AS BIGINT) AS s1,
    COUNT(x2) AS n2,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x2), 0))) AS BIGINT) AS s2,
    COUNT(x3) AS n3,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x3), 0))) AS BIGINT) AS s3,
    COUNT(x4) AS n4,
    COALESCE(SUM(x4), 0) AS s4,
    COUNT(x5) AS n5,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(x5), 0))) AS BIGINT) AS s5
  FROM (
    SELECT
      1 AS present,
      "source"."person" AS unit,
      CASE
        WHEN NOT "source"."age" IS NULL
        THEN CAST(GREATEST(0, LEAST(120, GREATEST(-1, LEAST(121, CAST("source"."age" AS BIGINT))) * 1 - 0)) AS BIGINT)
      END AS x0,
      CASE
        WHEN NOT "source"."age" IS NULL
        THEN CAST(GREATEST(
          0,
          LEAST(
            15,
            (
              (
                (
                  GREATEST(-8, LEAST(128, CAST("source"."age" AS BIGINT))) >> 2
                ) + 1
              ) >> 1
            ) - 0
          )
        ) AS BIGINT)
      END AS x1,
      CASE
        WHEN NOT "source"."paid" IS NULL
        THEN CAST(GREATEST(
          0,
          LEAST(
            102400,
            (
              (
                GREATEST(-2, LEAST(102, CAST(TRUNC("source"."paid") AS BIGINT))) - 1
              ) * 1024 + (
                (
                  CAST(CAST("source"."paid" - TRUNC("source"."paid") AS DECIMAL(38, 2)) * CAST(100 AS DECIMAL(3, 0)) AS BIGINT) + 100
                ) * 2048 + 100
              ) // 200
            ) - 0
          )
        ) AS BIGINT)
      END AS x2,
      CASE
        WHEN ISFINITE(
          CASE
            WHEN ISFINITE(
              TRY_CAST(REGEXP_EXTRACT("source"."free", '^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$', 1) AS DOUBLE)
            )
            THEN TRY_CAST(REGEXP_EXTRACT("source"."free", '^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$', 1) AS DOUBLE)
          END
        )
        THEN CAST(GREATEST(
          0,
          LEAST(
            102400,
            (
              (
                CAST(FLOOR(
                  GREATEST(
                    CAST('-0.0009765625' AS DOUBLE),
                    LEAST(
                      CAST('100.0009765625' AS DOUBLE),
                      CASE
                        WHEN ISFINITE(
                          TRY_CAST(REGEXP_EXTRACT("source"."free", '^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$', 1) AS DOUBLE)
                        )
                        THEN TRY_CAST(REGEXP_EXTRACT("source"."free", '^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*$', 1) AS DOUBLE)
                      END
                    )
                  ) * CAST('2048.0' AS DOUBLE)
                ) AS BIGINT) + 1
              ) >> 1
            ) - 0
          )
        ) AS BIGINT)
      END AS x3,
      CASE
        WHEN ISFINITE("source"."spend")
        THEN CAST(GREATEST(
          0,
          LEAST(
            1099511627776,
            (
              (
                CAST(FLOOR(
                  GREATEST(CAST('-1.0' AS DOUBLE), LEAST(CAST('1099511627777.0' AS DOUBLE), "source"."spend")) * CAST('2.0' AS DOUBLE)
                ) AS BIGINT) + 1
              ) >> 1
            ) - 0
          )
        ) AS BIGINT)
      END AS x4,
      (
        (
          CASE
            WHEN NOT "source"."age" IS NULL
            THEN CAST(GREATEST(-60, LEAST(60, GREATEST(-1, LEAST(121, CAST("source"."age" AS BIGINT))) * 1 - 60)) AS BIGINT)
          END * CASE
            WHEN NOT "source"."age" IS NULL
            THEN CAST(GREATEST(-60, LEAST(60, GREATEST(-1, LEAST(121, CAST("source"."age" AS BIGINT))) * 1 - 60)) AS BIGINT)
          END + 4
        ) >> 3
      ) - 225 AS x5
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
    unit
) AS counted
