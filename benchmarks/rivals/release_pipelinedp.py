"""Units, count and sum of value by category with PipelineDP.

    python release_pipelinedp.py DATA OUT MAX_GROUPS

Its local backend, one process. Categories are chosen by the noisy number of people that is published anyway
(post_aggregation_thresholding), which leaves the three columns a third of the budget each. Gaussian noise:
its threshold is the lower one (at three categories a person 164.6 people, Laplace 170.4; at eight 275, 476).
"""

from __future__ import annotations

import json
import operator
import sys
from importlib.metadata import version

import pipeline_dp
import pyarrow as pa
import pyarrow.parquet as pq


def released(data: str, max_groups: int) -> pa.Table:
    """Return the published table."""
    table = pq.read_table(data, columns=["user_id", "category", "value"])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-8)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    metrics = pipeline_dp.Metrics
    parameters = pipeline_dp.AggregateParams(
        metrics=[metrics.PRIVACY_ID_COUNT, metrics.COUNT, metrics.SUM],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=max_groups,
        max_contributions_per_partition=2,
        min_value=0,
        max_value=100,
        post_aggregation_thresholding=True,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=operator.itemgetter(0),
        partition_extractor=operator.itemgetter(1),
        value_extractor=operator.itemgetter(2),
    )
    answer = engine.aggregate(rows, parameters, extractors)
    budget.compute_budgets()
    listed = [(key, found.privacy_id_count, found.count, found.sum) for key, found in answer]
    columns = list(zip(*listed, strict=True)) or [()] * 4
    return pa.table(dict(zip(("category", "people", "visits", "value"), columns, strict=True)))


def main(data: str, out: str, max_groups: str) -> None:
    """Release, write, print the facts."""
    table = released(data, int(max_groups))
    pq.write_table(table, out)
    facts = {
        "version": version("pipeline-dp"),
        "rows": table.num_rows,
        "expresses": "units, count, sum",
        "note": "epsilon and delta are added up over the three columns",
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
