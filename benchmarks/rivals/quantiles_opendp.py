"""Quantiles of value by region with OpenDP.

    python quantiles_opendp.py DATA OUT REGIONS SHARES MAX_GROUPS TIMES

Its Polars interface, pure differential privacy: one of 1,001 candidates in [0, 100] for each quantile, chosen
by noisy scores. Rows of other regions are dropped first; the quantiles share epsilon 1.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

import opendp.prelude as dp
import polars

CANDIDATES = [step / 10 for step in range(1001)]
pl: Any = polars


def released(data: str, regions: list[str], shares: list[float], max_groups: int, times: int) -> Any:
    """Return published data frames: region, q0, q1, ...; the mechanism is worked out once for all."""
    rows = pl.scan_parquet(data).select("user_id", "region", "value")
    context = dp.Context.compositor(
        data=rows,
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user_id")),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=[pl.col("region")], max_length=1_000_000_000, max_groups=len(regions))],
    )
    value = pl.col("value").fill_nan(0.0).fill_null(0.0)
    query = (
        context.query()
        .filter((pl.col("region") >= min(regions)) & (pl.col("region") <= max(regions)))
        .truncate_per_group(2, by=["region"])
        .truncate_num_groups(max_groups, by=["region"], keep="first")
        .group_by("region")
        .agg(*(value.dp.quantile(share, CANDIDATES).alias(f"q{i}") for i, share in enumerate(shares)))
        .with_keys(pl.DataFrame({"region": regions}))
    )
    mechanism = query.resolve()
    return [mechanism(rows).collect() for _ in range(times)]


def main(data: str, out: str, regions: str, shares: str, max_groups: str, times: str) -> None:
    """Release several times, write all, print the facts."""
    dp.enable_features("contrib")
    wanted = [float(share) for share in shares.split(",")]
    frames = released(data, regions.split(","), wanted, int(max_groups), int(times))
    pl.concat(frames).write_parquet(out)
    facts = {
        "version": version("opendp"),
        "note": "a price for each; 1,001 candidates; no intervals;"
        f" keeps {int(max_groups) - 1} regions a person, the first by name, and prices {max_groups}",
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
