SELECT
  unit,
  g0
FROM (
  SELECT
    unit,
    g0
  FROM (
    SELECT
      1 AS present,
      "source"."person" AS unit,
      CASE
        WHEN ISNAN("source"."weight")
        THEN CAST('nan' AS DOUBLE)
        WHEN "source"."weight" = 0
        THEN CAST(0 AS DOUBLE)
        ELSE "source"."weight"
      END AS g0
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
    g0
) AS counted;

SELECT
  place,
  g0,
  CASE
    WHEN ISNAN(CASE WHEN TRY(TRY_CAST(g0 AS DOUBLE) = g0) THEN TRY_CAST(g0 AS DOUBLE) END)
    THEN CAST('nan' AS DOUBLE)
    WHEN CASE WHEN TRY(TRY_CAST(g0 AS DOUBLE) = g0) THEN TRY_CAST(g0 AS DOUBLE) END = 0
    THEN CAST(0 AS DOUBLE)
    ELSE CASE WHEN TRY(TRY_CAST(g0 AS DOUBLE) = g0) THEN TRY_CAST(g0 AS DOUBLE) END
  END AS h0
FROM listed
