SELECT
  `unit`,
  TRY_CAST(GREATEST(
    -120,
    LEAST(
      120,
      CASE
        WHEN `n0` > 1
        THEN (
          (
            `s0` DIV NULLIF(LEAST(`n0`, 4611686018427387904), 0)
          )
        ) * 1 + (
          (
            (
              TRY_MOD(`s0`, LEAST(`n0`, 4611686018427387904))
            ) * 1
          ) DIV NULLIF(LEAST(`n0`, 4611686018427387904), 0)
        )
        ELSE `s0`
      END
    )
  ) AS INT) AS `v0`,
  TRY_CAST(GREATEST(
    -45,
    LEAST(
      45,
      CASE
        WHEN `n1` > 3
        THEN (
          (
            `s1` DIV NULLIF(LEAST(`n1`, 1537228672809129301), 0)
          )
        ) * 3 + (
          (
            (
              TRY_MOD(`s1`, LEAST(`n1`, 1537228672809129301))
            ) * 3
          ) DIV NULLIF(LEAST(`n1`, 1537228672809129301), 0)
        )
        ELSE `s1`
      END
    )
  ) AS INT) AS `v1`,
  TRY_CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN `n2` > 1
        THEN (
          (
            `s2` DIV NULLIF(LEAST(`n2`, 4611686018427387904), 0)
          )
        ) * 1 + (
          (
            (
              TRY_MOD(`s2`, LEAST(`n2`, 4611686018427387904))
            ) * 1
          ) DIV NULLIF(LEAST(`n2`, 4611686018427387904), 0)
        )
        ELSE `s2`
      END
    )
  ) AS INT) AS `v2`,
  TRY_CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN `n3` > 1
        THEN (
          (
            `s3` DIV NULLIF(LEAST(`n3`, 4611686018427387904), 0)
          )
        ) * 1 + (
          (
            (
              TRY_MOD(`s3`, LEAST(`n3`, 4611686018427387904))
            ) * 1
          ) DIV NULLIF(LEAST(`n3`, 4611686018427387904), 0)
        )
        ELSE `s3`
      END
    )
  ) AS INT) AS `v3`,
  TRY_CAST(GREATEST(
    -450,
    LEAST(
      450,
      CASE
        WHEN `n4` > 2
        THEN (
          (
            `s4` DIV NULLIF(LEAST(`n4`, 2305843009213693952), 0)
          )
        ) * 2 + (
          (
            (
              TRY_MOD(`s4`, LEAST(`n4`, 2305843009213693952))
            ) * 2
          ) DIV NULLIF(LEAST(`n4`, 2305843009213693952), 0)
        )
        ELSE `s4`
      END
    )
  ) AS INT) AS `v4`
FROM (
  SELECT
    `unit`,
    COUNT(`x0`) AS `n0`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x0`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s0`,
    COUNT(`x1`) AS `n1`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x1`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s1`,
    COUNT(`x2`) AS `n2`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x2`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s2`,
    COUNT(`x3`) AS `n3`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x3`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s3`,
    COUNT(`x4`) AS `n4`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x4`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s4`
  FROM (
    SELECT
      1 AS `present`,
      `source`.`person` AS `unit`,
      CASE
        WHEN NOT `source`.`age` IS NULL
        THEN TRY_CAST(GREATEST(
          0,
          LEAST(120, GREATEST(-1, LEAST(121, TRY_CAST(`source`.`age` AS BIGINT))) * 1 - 0)
        ) AS BIGINT)
      END AS `x0`,
      CASE
        WHEN NOT `source`.`age` IS NULL
        THEN TRY_CAST(GREATEST(
          0,
          LEAST(
            15,
            (
              SHIFTRIGHT(
                (
                  (
                    SHIFTRIGHT(GREATEST(-8, LEAST(128, TRY_CAST(`source`.`age` AS BIGINT))), 2)
                  ) + 1
                ),
                1
              )
            ) - 0
          )
        ) AS BIGINT)
      END AS `x1`,
      CASE
        WHEN NOT `source`.`paid` IS NULL
        THEN TRY_CAST(GREATEST(
          0,
          LEAST(
            102400,
            (
              (
                GREATEST(
                  -2,
                  LEAST(
                    102,
                    TRY_CAST(CASE
                      WHEN `source`.`paid` < 0
                      THEN CEIL(`source`.`paid`)
                      ELSE FLOOR(`source`.`paid`)
                    END AS BIGINT)
                  )
                ) - 1
              ) * 1024 + (
                (
                  (
                    TRY_CAST(TRY_CAST(TRY_MOD(`source`.`paid`, TRY_CAST(1 AS DECIMAL(1, 0))) AS DECIMAL(38, 2)) * TRY_CAST(100 AS DECIMAL(3, 0)) AS BIGINT) + 100
                  ) * 2048 + 100
                ) DIV 200
              )
            ) - 0
          )
        ) AS BIGINT)
      END AS `x2`,
      CASE
        WHEN (
          (
            CASE
              WHEN (
                (
                  TRY_CAST(REGEXP_EXTRACT(
                    `source`.`free`,
                    CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                    1
                  ) AS DOUBLE)
                ) > TRY_CAST('-Infinity' AS DOUBLE)
                AND (
                  TRY_CAST(REGEXP_EXTRACT(
                    `source`.`free`,
                    CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                    1
                  ) AS DOUBLE)
                ) < TRY_CAST('Infinity' AS DOUBLE)
              )
              THEN TRY_CAST(REGEXP_EXTRACT(
                `source`.`free`,
                CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                1
              ) AS DOUBLE)
            END
          ) > TRY_CAST('-Infinity' AS DOUBLE)
          AND (
            CASE
              WHEN (
                (
                  TRY_CAST(REGEXP_EXTRACT(
                    `source`.`free`,
                    CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                    1
                  ) AS DOUBLE)
                ) > TRY_CAST('-Infinity' AS DOUBLE)
                AND (
                  TRY_CAST(REGEXP_EXTRACT(
                    `source`.`free`,
                    CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                    1
                  ) AS DOUBLE)
                ) < TRY_CAST('Infinity' AS DOUBLE)
              )
              THEN TRY_CAST(REGEXP_EXTRACT(
                `source`.`free`,
                CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                1
              ) AS DOUBLE)
            END
          ) < TRY_CAST('Infinity' AS DOUBLE)
        )
        THEN TRY_CAST(GREATEST(
          0,
          LEAST(
            102400,
            (
              SHIFTRIGHT(
                (
                  TRY_CAST(FLOOR(
                    GREATEST(
                      TRY_CAST('-0.0009765625' AS DOUBLE),
                      LEAST(
                        TRY_CAST('100.0009765625' AS DOUBLE),
                        CASE
                          WHEN (
                            (
                              TRY_CAST(REGEXP_EXTRACT(
                                `source`.`free`,
                                CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                                1
                              ) AS DOUBLE)
                            ) > TRY_CAST('-Infinity' AS DOUBLE)
                            AND (
                              TRY_CAST(REGEXP_EXTRACT(
                                `source`.`free`,
                                CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                                1
                              ) AS DOUBLE)
                            ) < TRY_CAST('Infinity' AS DOUBLE)
                          )
                          THEN TRY_CAST(REGEXP_EXTRACT(
                            `source`.`free`,
                            CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f283f3a5b302d395d2b5c2e3f5b302d395d2a7c5c2e5b302d395d2b29283f3a5b65455d5b2b2d5d3f5b302d395d2b293f295b5c745c6e5c665c72205d2a24' AS STRING),
                            1
                          ) AS DOUBLE)
                        END
                      )
                    ) * TRY_CAST('2048.0' AS DOUBLE)
                  ) AS BIGINT) + 1
                ),
                1
              )
            ) - 0
          )
        ) AS BIGINT)
      END AS `x3`,
      (
        SHIFTRIGHT(
          (
            CASE
              WHEN NOT `source`.`age` IS NULL
              THEN TRY_CAST(GREATEST(
                -60,
                LEAST(60, GREATEST(-1, LEAST(121, TRY_CAST(`source`.`age` AS BIGINT))) * 1 - 60)
              ) AS BIGINT)
            END * CASE
              WHEN NOT `source`.`age` IS NULL
              THEN TRY_CAST(GREATEST(
                -60,
                LEAST(60, GREATEST(-1, LEAST(121, TRY_CAST(`source`.`age` AS BIGINT))) * 1 - 60)
              ) AS BIGINT)
            END + 4
          ),
          3
        )
      ) - 225 AS `x4`
    FROM (
      SELECT
        `person`,
        `hue`,
        `year`,
        `spend`,
        `age`,
        `paid`,
        `free`
      FROM `{survey}` AS `survey`
    ) AS `source`
    WHERE
      NOT `source`.`person` IS NULL
  ) AS `source`
  GROUP BY
    `unit`
) AS `counted`
