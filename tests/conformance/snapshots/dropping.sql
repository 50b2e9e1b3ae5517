SELECT
  `unit`,
  `g0`,
  TRY_CAST(LEAST(`n1`, 2) AS INT) AS `v1`,
  TRY_CAST(LEAST(`n2`, 2) AS INT) AS `v2`,
  TRY_CAST(GREATEST(
    -102400,
    LEAST(
      102400,
      CASE
        WHEN `n3` > 2
        THEN (
          (
            `s3` DIV NULLIF(LEAST(`n3`, 2305843009213693952), 0)
          )
        ) * 2 + (
          (
            (
              TRY_MOD(`s3`, LEAST(`n3`, 2305843009213693952))
            ) * 2
          ) DIV NULLIF(LEAST(`n3`, 2305843009213693952), 0)
        )
        ELSE `s3`
      END
    )
  ) AS INT) AS `v3`
FROM (
  SELECT
    `unit`,
    `g0`,
    COUNT(*) AS `n1`,
    COUNT(`x3`) AS `n2`,
    COUNT(`x3`) AS `n3`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`x3`) AS DECIMAL(38, 0)), 0))
    ) AS BIGINT) AS `s3`
  FROM (
    SELECT /*+ REPARTITION(`unit`) */
      1 AS `present`,
      `source`.`person` AS `unit`,
      `source`.`hue` AS `g0`,
      CASE
        WHEN (
          `source`.`spend` > TRY_CAST('-Infinity' AS DOUBLE)
          AND `source`.`spend` < TRY_CAST('Infinity' AS DOUBLE)
        )
        THEN TRY_CAST(GREATEST(
          -51200,
          LEAST(
            51200,
            (
              SHIFTRIGHT(
                (
                  TRY_CAST(FLOOR(
                    GREATEST(
                      TRY_CAST('-0.0009765625' AS DOUBLE),
                      LEAST(TRY_CAST('100.0009765625' AS DOUBLE), `source`.`spend`)
                    ) * TRY_CAST('2048.0' AS DOUBLE)
                  ) AS BIGINT) + 1
                ),
                1
              )
            ) - 51200
          )
        ) AS BIGINT)
      END AS `x3`
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
    `unit`,
    `g0`
) AS `counted`;

SELECT
  `g0`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(TRY_CAST(COUNT(*) AS DECIMAL(38, 0)) * 1048576, 0))
  ) AS BIGINT) AS `m0`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`v1`) AS DECIMAL(38, 0)) * 1048576, 0))
  ) AS BIGINT) AS `m1`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`v2`) AS DECIMAL(38, 0)) * 1048576, 0))
  ) AS BIGINT) AS `m2`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`v3`) AS DECIMAL(38, 0)) * 1048576, 0))
  ) AS BIGINT) AS `m3`
FROM (
  SELECT
    *
    EXCEPT (`rank`)
  FROM (
    SELECT
      *,
      COUNT(*) OVER (
        PARTITION BY `unit`
        ORDER BY XXHASH64(
          XXHASH64(
            '0123456789abcdef0123456789abcdef',
            `unit`,
            (
              `unit`
            ) IS NULL,
            `g0`,
            (
              `g0`
            ) IS NULL
          )
        )
        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS `rank`
    FROM `{deniable_pairs}` AS `deniable_pairs`
  ) AS `ranked`
  WHERE
    `rank` <= 3
) AS `kept`
GROUP BY
  `g0`
