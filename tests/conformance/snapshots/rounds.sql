SELECT
  TRY_CAST(TRY_CAST(ROW_NUMBER() OVER (
    PARTITION BY PMOD(XXHASH64(`g1`, (
      `g1`
    ) IS NULL, `g0`, (
      `g0`
    ) IS NULL), 4096)
    ORDER BY `g0` NULLS LAST, `g1` NULLS LAST
  ) AS BIGINT) * 4096 + PMOD(XXHASH64(`g1`, (
    `g1`
  ) IS NULL, `g0`, (
    `g0`
  ) IS NULL), 4096) AS BIGINT) AS `place`,
  XXHASH64(`g1`, `g0`, (
    `g0`
  ) IS NULL) AS `code`,
  `g0`,
  `g1`
FROM (
  SELECT DISTINCT
    `g0`,
    `g1`
  FROM `{deniable_pairs}` AS `deniable_pairs`
) AS `distinct_keys`;

SELECT
  `unit`,
  `place`,
  `v1`,
  `v2`,
  `v3`
FROM `{deniable_pairs}` AS `deniable_pairs`
JOIN `{deniable_found}` AS `deniable_found`
  ON `deniable_pairs`.`g0` IS NOT DISTINCT FROM `deniable_found`.`g0`
  AND `deniable_pairs`.`g1` IS NOT DISTINCT FROM `deniable_found`.`g1`;

SELECT
  `unit`,
  `place`
FROM `{deniable_numbered}` AS `deniable_numbered`
ANTI JOIN `{deniable_shown}` AS `deniable_shown`
  USING (`place`);

SELECT
  `unit`,
  `counted`.`m`,
  `w`
FROM (
  SELECT
    `unit`,
    COUNT(*) AS `m`
  FROM `{deniable_rest}` AS `deniable_rest`
  GROUP BY
    `unit`
) AS `counted`
JOIN `{deniable_weights}` AS `deniable_weights`
  ON `deniable_weights`.`m` = LEAST(`counted`.`m`, 100);

SELECT
  `place`,
  TRY_CAST(GREATEST(
    -4611686018427387904,
    LEAST(4611686018427387904, COALESCE(SUM(TRY_CAST(`w` AS DECIMAL(38, 0))), 0))
  ) AS BIGINT) AS `m0`
FROM (
  SELECT
    `place`,
    `w`
  FROM `{deniable_rest}` AS `deniable_rest`
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
      `place`,
      `w`,
      COUNT(*) OVER (
        PARTITION BY `unit`
        ORDER BY XXHASH64(
          XXHASH64(
            '0123456789abcdef0123456789abcdef',
            `unit`,
            (
              `unit`
            ) IS NULL,
            `code`,
            (
              `code`
            ) IS NULL
          )
        )
        RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS `rank`
    FROM `{deniable_rest}` AS `deniable_rest`
    JOIN `{deniable_widths}` AS `deniable_widths`
      USING (`unit`)
    JOIN `{deniable_found}` AS `deniable_found`
      USING (`place`)
    WHERE
      `m` > 100
  ) AS `ranked`
  WHERE
    `rank` <= 100
) AS `kept`
GROUP BY
  `place`;

SELECT
  `place`,
  `code`,
  `g0`,
  `g1`
FROM `{deniable_found}` AS `deniable_found`
JOIN `{deniable_shown}` AS `deniable_shown`
  USING (`place`);

SELECT
  `deniable_numbered`.*,
  `code`
FROM `{deniable_numbered}` AS `deniable_numbered`
JOIN `{deniable_keys}` AS `deniable_keys`
  USING (`place`)
