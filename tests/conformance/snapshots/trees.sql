SELECT
  1 AS `present`,
  `source`.`person` AS `unit`,
  `source`.`hue` AS `g0`,
  CASE
    WHEN (
      `source`.`spend` > TRY_CAST('-Infinity' AS DOUBLE)
      AND `source`.`spend` < TRY_CAST('Infinity' AS DOUBLE)
    )
    THEN TRY_CAST(GREATEST(
      0,
      LEAST(
        200,
        (
          SHIFTRIGHT(
            (
              TRY_CAST(FLOOR(
                GREATEST(
                  TRY_CAST('-0.0009765625' AS DOUBLE),
                  LEAST(TRY_CAST('0.1962890625' AS DOUBLE), `source`.`spend`)
                ) * TRY_CAST('2048.0' AS DOUBLE)
              ) AS BIGINT) + 1
            ),
            1
          )
        ) - 0
      )
    ) AS BIGINT)
  END AS `x1`,
  CASE
    WHEN NOT (
      (
        TRY_CAST(`source`.`age` AS DOUBLE)
      ) > TRY_CAST('-Infinity' AS DOUBLE)
      AND (
        TRY_CAST(`source`.`age` AS DOUBLE)
      ) < TRY_CAST('Infinity' AS DOUBLE)
    )
    OR TRY_CAST(`source`.`age` AS DOUBLE) IS NULL
    OR TRY_CAST(`source`.`age` AS DOUBLE) < TRY_CAST('0.0' AS DOUBLE)
    OR TRY_CAST(`source`.`age` AS DOUBLE) > TRY_CAST('18.0' AS DOUBLE)
    THEN NULL
    ELSE 0
  END AS `x2`
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
  NOT `source`.`person` IS NULL;

SELECT
  `alone`.`g0`,
  `alone`.`m0`,
  `l1`.`m1`,
  `l2`.`m2`
FROM (
  SELECT
    `g0`,
    TRY_CAST(GREATEST(
      -4611686018427387904,
      LEAST(4611686018427387904, COALESCE(TRY_CAST(COUNT(*) AS DECIMAL(38, 0)) * 1048576, 0))
    ) AS BIGINT) AS `m0`
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
) AS `alone`
LEFT JOIN (
  SELECT
    `g0`,
    COLLECT_LIST(
      NAMED_STRUCT('leaf', TRY_CAST(`leaf` AS BIGINT), 'number', TRY_CAST(`number` AS BIGINT))
    ) AS `m1`
  FROM (
    SELECT
      `g0`,
      `leaf`,
      TRY_CAST(GREATEST(
        -4611686018427387904,
        LEAST(4611686018427387904, COALESCE(SUM(TRY_CAST(`number` AS DECIMAL(38, 0))), 0))
      ) AS BIGINT) AS `number`
    FROM (
      SELECT
        `kept`.`g0`,
        `x1` AS `leaf`,
        CASE
          WHEN `v1` > 2
          THEN (
            (
              TRY_CAST(1048576 AS DECIMAL(38, 0)) * 2 * `c`
            ) DIV NULLIF(`v1`, 0)
          )
          ELSE TRY_CAST(1048576 AS DECIMAL(38, 0)) * `c`
        END AS `number`
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
      JOIN (
        SELECT
          `unit`,
          `g0`,
          `x1`,
          COUNT(*) AS `c`
        FROM `{deniable_rows}` AS `deniable_rows`
        WHERE
          NOT `x1` IS NULL
        GROUP BY
          `unit`,
          `g0`,
          `x1`
      ) AS `counted`
        ON `kept`.`unit` IS NOT DISTINCT FROM `counted`.`unit`
        AND `kept`.`g0` IS NOT DISTINCT FROM `counted`.`g0`
    ) AS `shares`
    GROUP BY
      `g0`,
      `leaf`
  ) AS `summed`
  GROUP BY
    `g0`
) AS `l1`
  ON `alone`.`g0` IS NOT DISTINCT FROM `l1`.`g0`
LEFT JOIN (
  SELECT
    `g0`,
    COLLECT_LIST(
      NAMED_STRUCT('leaf', TRY_CAST(`leaf` AS BIGINT), 'number', TRY_CAST(`number` AS BIGINT))
    ) AS `m2`
  FROM (
    SELECT
      `g0`,
      `leaf`,
      TRY_CAST(GREATEST(
        -4611686018427387904,
        LEAST(4611686018427387904, COALESCE(SUM(TRY_CAST(`number` AS DECIMAL(38, 0))), 0))
      ) AS BIGINT) AS `number`
    FROM (
      SELECT
        `kept`.`g0`,
        `x2` AS `leaf`,
        CASE
          WHEN `v2` > 2
          THEN (
            (
              TRY_CAST(1048576 AS DECIMAL(38, 0)) * 2 * `c`
            ) DIV NULLIF(`v2`, 0)
          )
          ELSE TRY_CAST(1048576 AS DECIMAL(38, 0)) * `c`
        END AS `number`
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
      JOIN (
        SELECT
          `unit`,
          `g0`,
          `x2`,
          COUNT(*) AS `c`
        FROM `{deniable_rows}` AS `deniable_rows`
        WHERE
          NOT `x2` IS NULL
        GROUP BY
          `unit`,
          `g0`,
          `x2`
      ) AS `counted`
        ON `kept`.`unit` IS NOT DISTINCT FROM `counted`.`unit`
        AND `kept`.`g0` IS NOT DISTINCT FROM `counted`.`g0`
    ) AS `shares`
    GROUP BY
      `g0`,
      `leaf`
  ) AS `summed`
  GROUP BY
    `g0`
) AS `l2`
  ON `alone`.`g0` IS NOT DISTINCT FROM `l2`.`g0`
