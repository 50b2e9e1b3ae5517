SELECT
  1 AS present,
  "source"."person" AS unit,
  "source"."hue" AS g0,
  "source"."year" AS g1,
  CASE
    WHEN ISFINITE("source"."spend")
    THEN CASE
      WHEN ISNAN("source"."spend")
      THEN CAST('nan' AS DOUBLE)
      WHEN "source"."spend" = 0
      THEN CAST(0 AS DOUBLE)
      ELSE "source"."spend"
    END
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
  unit,
  g0,
  g1
FROM (
  SELECT
    unit,
    g0,
    g1
  FROM deniable_rows AS source
  GROUP BY
    unit,
    g0,
    g1
) AS counted;

SELECT
  alone.g0,
  alone.g1,
  alone.m0,
  COALESCE(l1.m1, 0) AS m1
FROM (
  SELECT
    g0,
    g1,
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
) AS alone
LEFT JOIN (
  SELECT
    g0,
    g1,
    CAST(GREATEST(-4611686018427387904, LEAST(4611686018427387904, COALESCE(SUM(number), 0))) AS BIGINT) AS m1
  FROM (
    SELECT
      kept.g0,
      kept.g1,
      value,
      MAX(w) AS number
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
    JOIN (
      SELECT
        *
      FROM (
        SELECT DISTINCT
          unit,
          g0,
          g1,
          x1 AS value
        FROM deniable_rows
        WHERE
          NOT x1 IS NULL
      ) AS held
      QUALIFY
        COUNT(*) OVER (
          PARTITION BY unit, g0, g1
          ORDER BY HASH(HASH(value, unit, '0123456789abcdef0123456789abcdef')) NULLS FIRST
          RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) <= 3
    ) AS chosen
      ON kept.unit IS NOT DISTINCT FROM chosen.unit
      AND kept.g0 IS NOT DISTINCT FROM chosen.g0
      AND kept.g1 IS NOT DISTINCT FROM chosen.g1
    GROUP BY
      kept.g0,
      kept.g1,
      value
  ) AS valued
  GROUP BY
    g0,
    g1
) AS l1
  ON alone.g0 IS NOT DISTINCT FROM l1.g0 AND alone.g1 IS NOT DISTINCT FROM l1.g1
