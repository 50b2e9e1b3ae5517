"""A masked entry is missing: no number that lies under a mask is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import local
from deniable.errors import WITHHELD, ParameterError
from deniable.learn.arrays import features, numbers, targets
from deniable.local.arrays import unmasked
from deniable.local.keyvalue.pairs import Pairs
from deniable.local.telemetry import DBitFlip, OneBitMean

MASKED = np.ma.masked_equal([1, 0, 1, 2], 2)
WHOLE = np.ma.array([1, 0, 1])
ENDS: Any = (0, 2)
READERS: dict[str, Any] = {
    "mean": local.Mean(epsilon=1, bounds=ENDS).randomize,
    "frequency": local.Frequency(epsilon=1, domain=range(3)).randomize,
    "distribution": local.Distribution(epsilon=1, bounds=ENDS).randomize,
    "one bit": OneBitMean(epsilon=1, bounds=ENDS).randomize,
    "some bits": DBitFlip(epsilon=1, domain=[0, 1, 2], bits=2).randomize,
    "targets": lambda values: targets(values, len(values)),
    "regression": numbers,
    "features": lambda values: features(values.reshape(-1, 1)),
    "pairs": lambda values: local.KeyValue(epsilon=1, keys=[0, 1, 2], bounds=ENDS).randomize(
        Pairs(np.arange(len(values) + 1), values, np.zeros(len(values), np.int64))
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_an_array_with_a_masked_entry_is_refused_and_nothing_under_the_mask_is_shown(name: str) -> None:
    with pytest.raises(ParameterError, match="masked") as found:
        READERS[name](MASKED)
    assert found.value.value is WITHHELD


@pytest.mark.parametrize("name", READERS)
def test_a_masked_array_in_which_nothing_is_masked_is_read(name: str) -> None:
    assert len(READERS[name](WHOLE)) == 3


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.ma.masked],
        [np.ma.masked_equal([1, 2], 2), [1, 2]],
        ([[0], [np.ma.masked]],),
        np.ma.masked,
        np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]]),
    ],
)
def test_a_mask_is_seen_in_lists_and_in_any_shape(values: Any) -> None:
    with pytest.raises(ParameterError, match="masked"):
        unmasked(values)


def test_what_has_no_mask_is_what_numpy_reads() -> None:
    for values in ([1, 2], (0.5,), [[1, 2], [3, 4]], [], np.arange(3), ["a", None], 5, WHOLE):
        read = unmasked(values)
        assert type(read) is np.ndarray
        assert read.tolist() == np.asarray(values).tolist()
