SELECT
  TRY_ADD(TRY_CAST(`age` AS BIGINT), TRY_CAST(1 AS BIGINT));

SELECT
  CASE
    WHEN (
      NULLIF(TRY_CAST(`age` AS BIGINT), 0)
    ) = (
      -1
    )
    THEN TRY_SUBTRACT(0, TRY_CAST(`age` AS BIGINT))
    ELSE (
      TRY_CAST(`age` AS BIGINT) DIV NULLIF(NULLIF(NULLIF(TRY_CAST(`age` AS BIGINT), 0), 0), (
        -1
      ))
    )
  END;

SELECT
  TRY_MOD(TRY_CAST(`age` AS BIGINT), NULLIF(TRY_CAST(7 AS BIGINT), 0));

SELECT
  CASE
    WHEN (
      TRY_DIVIDE(`spend`, NULLIF(TRY_CAST(`age` AS BIGINT), 0)) > TRY_CAST('-Infinity' AS DOUBLE)
      AND TRY_DIVIDE(`spend`, NULLIF(TRY_CAST(`age` AS BIGINT), 0)) < TRY_CAST('Infinity' AS DOUBLE)
    )
    THEN TRY_DIVIDE(`spend`, NULLIF(TRY_CAST(`age` AS BIGINT), 0))
  END;

SELECT
  CASE
    WHEN (
      TRY_DIVIDE(ROUND(TRY_MULTIPLY(`spend`, 100.0D), 0), 100.0D) > TRY_CAST('-Infinity' AS DOUBLE)
      AND TRY_DIVIDE(ROUND(TRY_MULTIPLY(`spend`, 100.0D), 0), 100.0D) < TRY_CAST('Infinity' AS DOUBLE)
    )
    THEN TRY_DIVIDE(ROUND(TRY_MULTIPLY(`spend`, 100.0D), 0), 100.0D)
  END;

SELECT
  CASE
    WHEN (
      (
        CASE
          WHEN ABS(`spend`) < 4503599627370496
          THEN TRY_CAST(FLOOR(`spend`) AS DOUBLE)
          ELSE `spend`
        END
      ) > TRY_CAST('-Infinity' AS DOUBLE)
      AND (
        CASE
          WHEN ABS(`spend`) < 4503599627370496
          THEN TRY_CAST(FLOOR(`spend`) AS DOUBLE)
          ELSE `spend`
        END
      ) < TRY_CAST('Infinity' AS DOUBLE)
    )
    THEN CASE
      WHEN ABS(`spend`) < 4503599627370496
      THEN TRY_CAST(FLOOR(`spend`) AS DOUBLE)
      ELSE `spend`
    END
  END;

SELECT
  `hue` LIKE CAST(X'3530212125' AS STRING) ESCAPE '!';

SELECT
  LEFT(`hue` || CAST(X'7b247d' AS STRING), 10000);

SELECT
  TRY_CAST(REGEXP_EXTRACT(
    `hue`,
    CAST(X'5e5b5c745c6e5c665c72205d2a285b2b2d5d3f5b302d395d2b29283f3a5c2e302a293f5b5c745c6e5c665c72205d2a24' AS STRING),
    1
  ) AS BIGINT);

SELECT
  TRY_CAST(CASE
    WHEN (
      CASE
        WHEN (
          `spend` > TRY_CAST('-Infinity' AS DOUBLE)
          AND `spend` < TRY_CAST('Infinity' AS DOUBLE)
        )
        THEN `spend`
      END
    ) < 9.223372036854775807e18D
    THEN RINT(
      CASE
        WHEN (
          `spend` > TRY_CAST('-Infinity' AS DOUBLE)
          AND `spend` < TRY_CAST('Infinity' AS DOUBLE)
        )
        THEN `spend`
      END
    )
  END AS BIGINT);

SELECT
  CASE
    WHEN TRY_CAST(TIMESTAMPADD(
      MICROSECOND,
      TRY_CAST((
        MINUTE(`at`) * 60 + DATE_PART('SECOND', `at`)
      ) * (
        -1000000
      ) AS BIGINT),
      `at`
    ) AS TIMESTAMP_NTZ) BETWEEN TRY_CAST('0001-01-01' AS TIMESTAMP_NTZ) AND TRY_CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP_NTZ)
    THEN TRY_CAST(TIMESTAMPADD(
      MICROSECOND,
      TRY_CAST((
        MINUTE(`at`) * 60 + DATE_PART('SECOND', `at`)
      ) * (
        -1000000
      ) AS BIGINT),
      `at`
    ) AS TIMESTAMP_NTZ)
  END;

SELECT
  CASE
    WHEN TRY_CAST(TRY_CAST(TRUNC(TRY_CAST(`at` AS DATE), 'month') AS TIMESTAMP_NTZ) AS TIMESTAMP_NTZ) BETWEEN TRY_CAST('0001-01-01' AS TIMESTAMP_NTZ) AND TRY_CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP_NTZ)
    THEN TRY_CAST(TRY_CAST(TRUNC(TRY_CAST(`at` AS DATE), 'month') AS TIMESTAMP_NTZ) AS TIMESTAMP_NTZ)
  END
