SELECT
  `place`,
  `g0`,
  CASE WHEN TRY_CAST(`g0` AS STRING) = `g0` THEN TRY_CAST(`g0` AS STRING) END AS `h0`
FROM `{listed}` AS `listed`;

SELECT
  1 AS `found`
FROM `{deniable_keys}` AS `deniable_keys`
WHERE
  NOT `h0` IS NULL
GROUP BY
  `h0`
HAVING
  COUNT(*) > 1;

SELECT
  `deniable_keys`.`g0`,
  COALESCE(`found`.`m0`, 0) AS `m0`,
  COALESCE(`found`.`m1`, 0) AS `m1`,
  COALESCE(`found`.`m2`, 0) AS `m2`,
  COALESCE(`found`.`m3`, 0) AS `m3`
FROM `{deniable_keys}` AS `deniable_keys`
LEFT JOIN (
  SELECT
    `place`,
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
              `place`,
              (
                `place`
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
    `place`
) AS `found`
  USING (`place`)
ORDER BY
  `deniable_keys`.`place`
