CREATE TABLE deniable_public AS
SELECT
  TRY_CAST("public"."code" AS TEXT) AS k0,
  TRY_CAST("public"."year" AS INT128) AS k1,
  CAST("public"."region" AS TEXT) AS c0
FROM (
  SELECT
    *
  FROM regions
) AS public
WHERE
  NOT TRY_CAST("public"."code" AS TEXT) IS NULL
  AND NOT TRY_CAST("public"."year" AS INT128) IS NULL;

SELECT
  1 AS found
FROM deniable_public
GROUP BY
  k0,
  k1
HAVING
  COUNT(*) > 1;

SELECT
  source.*,
  public.c0 AS "region"
FROM (
  SELECT
    *
  FROM survey
) AS source
LEFT JOIN deniable_view_1 AS public
  ON TRY_CAST("source"."country" AS TEXT) = TRY_CAST(public.k0 AS TEXT)
  AND TRY_CAST("source"."year" AS INT128) = TRY_CAST(public.k1 AS INT128)
