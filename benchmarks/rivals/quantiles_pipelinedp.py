"""Quantiles of value by region with PipelineDP.

    python quantiles_pipelinedp.py DATA OUT REGIONS SHARES MAX_GROUPS TIMES

Its local backend, Laplace noise in a tree over [0, 100], pure differential privacy; regions are public.
"""

from __future__ import annotations

import json
import operator
import sys
from importlib.metadata import version

import pipeline_dp
import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[tuple[object, ...]]


def released(rows: Rows, regions: list[str], percents: list[int], max_groups: int) -> Rows:
    """Return one published table: region and its quantiles."""
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PERCENTILE(percent) for percent in percents],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=max_groups,
        max_contributions_per_partition=2,
        min_value=0,
        max_value=100,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=operator.itemgetter(0),
        partition_extractor=operator.itemgetter(1),
        value_extractor=operator.itemgetter(2),
    )
    answer = engine.aggregate(rows, parameters, extractors, public_partitions=regions)
    budget.compute_budgets()
    return [
        (key, *(getattr(found, f"percentile_{percent}") for percent in percents)) for key, found in answer
    ]


def main(data: str, out: str, regions: str, shares: str, max_groups: str, times: str) -> None:
    """Release several times, write all, print the facts."""
    table = pq.read_table(data, columns=["user_id", "region", "value"])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    percents = [round(100 * float(share)) for share in shares.split(",")]
    published: Rows = []
    for _ in range(int(times)):
        published += released(rows, regions.split(","), percents, int(max_groups))
    names = ("region", *(f"q{i}" for i in range(len(percents))))
    pq.write_table(pa.table(dict(zip(names, zip(*published, strict=True), strict=True))), out)
    note = "one price for all; no intervals"
    print(json.dumps({"version": version("pipeline-dp"), "note": note}))


if __name__ == "__main__":
    main(*sys.argv[1:])
