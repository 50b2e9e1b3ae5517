SELECT
  1 AS present,
  "source"."person" AS unit,
  "source"."hue" AS g0,
  CASE
    WHEN ISFINITE("source"."spend")
    THEN CAST(GREATEST(
      0,
      LEAST(
        200,
        (
          (
            CAST(FLOOR(
              GREATEST(
                CAST('-0.0009765625' AS DOUBLE),
                LEAST(CAST('0.1962890625' AS DOUBLE), "source"."spend")
              ) * CAST('2048.0' AS DOUBLE)
            ) AS BIGINT) + 1
          ) >> 1
        ) - 0
      )
    ) AS BIGINT)
  END AS x1
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
  NOT "source"."person" IS NULL;

SELECT
  alone.g0,
  alone.m0,
  l1.m1
FROM (
  SELECT
    g0,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(w), 0))) AS BIGINT) AS m0
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
          ORDER BY HASH(HASH(g0, unit, '0123456789abcdef0123456789abcdef')) NULLS FIRST
          RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) <= 100
    ) AS kept
    JOIN deniable_weights
      USING (m)
  ) AS kept
  GROUP BY
    g0
) AS alone
LEFT JOIN (
  SELECT
    g0,
    ARRAY_AGG({'leaf': leaf, 'number': number}) AS m1
  FROM (
    SELECT
      g0,
      leaf,
      CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS number
    FROM (
      SELECT
        kept.g0,
        x1 AS leaf,
        CASE
          WHEN v1 > 2
          THEN (
            CAST(w AS INT128) * 2 * c
          ) // v1
          ELSE CAST(w AS INT128) * c
        END AS number
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
              ORDER BY HASH(HASH(g0, unit, '0123456789abcdef0123456789abcdef')) NULLS FIRST
              RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) <= 100
        ) AS kept
        JOIN deniable_weights
          USING (m)
      ) AS kept
      JOIN (
        SELECT
          unit,
          g0,
          x1,
          COUNT(*) AS c
        FROM deniable_rows
        WHERE
          NOT x1 IS NULL
        GROUP BY
          unit,
          g0,
          x1
      ) AS counted
        ON kept.unit IS NOT DISTINCT FROM counted.unit
        AND kept.g0 IS NOT DISTINCT FROM counted.g0
    ) AS shares
    GROUP BY
      g0,
      leaf
  ) AS summed
  GROUP BY
    g0
) AS l1
  ON alone.g0 IS NOT DISTINCT FROM l1.g0
