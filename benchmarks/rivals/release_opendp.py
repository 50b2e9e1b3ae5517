"""Units, count and sum of value by category with OpenDP.

    python release_opendp.py DATA OUT MAX_GROUPS

Its Polars interface: a person's rows are brought to max_groups categories and one row in each (the number of
rows and the sum of value, both clipped), then counted and summed. The three share one zero-concentrated
budget; half of delta is for turning it into epsilon, half for the threshold on people.

Which categories of a person are kept is not like for like. keep="sample", the default, raises in this
version. keep="first" goes by name, and the names of these data happen to follow how common a category is: a
favour (of 100,000 rows it published 16 categories, keep="last" 4).
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

import opendp.prelude as dp
import polars

EPSILON, DELTA, MAX_ROWS, HIGH, CENTS = 1.0, 1e-8, 2, 100, 100
pl: Any = polars


def rho() -> float:
    """Return the largest rho that OpenDP itself turns into (EPSILON, DELTA / 2)."""
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def spent(scale: float) -> float:
        concentrated = dp.m.make_gaussian(*space, scale=scale)
        curve = dp.c.make_zCDP_to_approxDP(concentrated).map(1.0)
        return float(curve.epsilon(DELTA / 2))

    scale = dp.binary_search(lambda scale: spent(scale) <= EPSILON, bounds=(1.0, 100.0))
    return float(0.5 / scale**2)


def released(data: str, max_groups: int) -> Any:
    """Return the published data frame."""
    margin = dp.polars.Margin(by=[pl.col("category")], max_length=1_000_000_000, max_groups=10_000_000)
    context = dp.Context.compositor(
        data=pl.scan_parquet(data),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user_id")),
        privacy_loss=dp.loss_of(rho=rho(), delta=DELTA / 2),
        split_evenly_over=1,
        margins=[margin],
    )
    one_row_a_group = (
        context.query()
        .truncate_num_groups(max_groups, by=["category"], keep="first")
        .group_by("user_id", "category")
        .agg(
            pl.len().clip(0, MAX_ROWS).alias("visits"),
            pl.col("value").sum().clip(0.0, float(HIGH * MAX_ROWS)).alias("value"),
        )
    )
    query = one_row_a_group.group_by("category").agg(
        dp.len(signed=True).alias("people"),
        pl.col("visits").cast(pl.Int64).dp.sum((0, MAX_ROWS)).alias("visits"),
        (pl.col("value") * CENTS).cast(pl.Int64).dp.sum((0, HIGH * MAX_ROWS * CENTS)).alias("value"),
    )
    return query.release().collect().with_columns(value=pl.col("value") / CENTS)


def main(data: str, out: str, max_groups: str) -> None:
    """Release, write, print the facts."""
    dp.enable_features("contrib")
    frame = released(data, int(max_groups))
    frame.write_parquet(out)
    facts = {
        "version": version("opendp"),
        "rows": frame.height,
        "expresses": "units, count, sum",
        "note": f"truncate_num_groups({max_groups}) prices {max_groups} categories a person and keeps"
        f" {int(max_groups) - 1}, the first by name: here the commonest (keep='sample' raises)",
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
