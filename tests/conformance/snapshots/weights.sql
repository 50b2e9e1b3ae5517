SELECT
  `unit`,
  `g0`,
  `g1`,
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
    `g1`,
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
      `source`.`year` AS `g1`,
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
    `g0`,
    `g1`
) AS `counted`;

SELECT
  `unit`,
  COUNT(*) AS `m`
FROM `{deniable_pairs}` AS `deniable_pairs`
GROUP BY
  `unit`;

SELECT
  LEAST(`m`, 100) AS `m`,
  COUNT(*) AS `units`
FROM `{deniable_widths}` AS `deniable_widths`
GROUP BY
  LEAST(`m`, 100);

SELECT
  `g0`,
  `g1`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(TRY_CAST(SUM(`w`) AS DECIMAL(38, 0)), 0))
  ) AS BIGINT) AS `m0`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(
      4611686018427387904,
      COALESCE(TRY_CAST(SUM(TRY_CAST(`v1` AS BIGINT) * `w`) AS DECIMAL(38, 0)), 0)
    )
  ) AS BIGINT) AS `m1`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(
      4611686018427387904,
      COALESCE(TRY_CAST(SUM(TRY_CAST(`v2` AS BIGINT) * `w`) AS DECIMAL(38, 0)), 0)
    )
  ) AS BIGINT) AS `m2`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(
      4611686018427387904,
      COALESCE(
        (
          TRY_CAST(SUM((
            TRY_CAST(`v3` AS BIGINT) * `w`
          ) DIV 16777216) AS DECIMAL(38, 0)) * 16777216 + SUM(TRY_MOD(TRY_CAST(`v3` AS BIGINT) * `w`, 16777216))
        ),
        0
      )
    )
  ) AS BIGINT) AS `m3`
FROM (
  SELECT
    *
  FROM (
    SELECT
      `deniable_pairs`.*,
      `m`
    FROM `{deniable_pairs}` AS `deniable_pairs`
    JOIN `{deniable_widths}` AS `deniable_widths`
      USING (`unit`)
    WHERE
      `m` <= 100
    UNION ALL
    SELECT
      *
      EXCEPT (`rank`)
    FROM (
      SELECT
        `deniable_pairs`.*,
        100 AS `m`,
        COUNT(*) OVER (
          PARTITION BY `unit`
          ORDER BY XXHASH64(
            XXHASH64(
              '0123456789abcdef0123456789abcdef',
              `unit`,
              (
                `unit`
              ) IS NULL,
              `g1`,
              (
                `g1`
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
      JOIN `{deniable_widths}` AS `deniable_widths`
        USING (`unit`)
      WHERE
        `deniable_widths`.`m` > 100
    ) AS `ranked`
    WHERE
      `rank` <= 100
  ) AS `kept`
  JOIN `{deniable_weights}` AS `deniable_weights`
    USING (`m`)
) AS `kept`
GROUP BY
  `g0`,
  `g1`
