"""pandas frames: names and dtypes are assumed public, except that `object` says nothing about values.

| dtype                                   | column                                                    |
|-----------------------------------------|-----------------------------------------------------------|
| int, uint, float, bool, datetime64, and their nullable and Arrow kin | typed, NaN and NaT are NULL  |
| object                                  | text, unless `types=` declares it                         |
| str, string                             | text                                                      |
| category                                | text; unused categories leave no trace                    |
| timedelta, period, interval, sparse, complex | OTHER                                                |

A value of an object column becomes text by itself (`as_text`), and then what was declared; a value of
another kind becomes NULL. The engine never looks at such a column: its type would depend on the values.
The index is not a column.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from deniable.errors import SourceError
from deniable.query.schema import Type
from deniable.query.sources.arrow import ArrowSource, arrow_source, kind_of
from deniable.query.sources.select import Field
from deniable.query.sources.validity import valid

_LABEL = "a pandas frame"


def from_pandas(frame: pd.DataFrame, types: Mapping[str, Type]) -> ArrowSource:
    """Return the source of a pandas frame. Its values are looked at when rows are needed.

    Raises:  SourceError: names which are not text, empty or double. ParameterError: types.
    """
    names = list(frame.columns)
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise SourceError(
                f"Column {place} of {_LABEL} is not named by text. "
                "Rename it: frame.columns = [str(name) for name in frame.columns]."
            )
    fields = [Field(name, _kind(dtype)) for name, dtype in zip(names, frame.dtypes, strict=True)]

    def read(chosen: Sequence[str]) -> pa.Table:
        return pa.table({name: _array(frame[name]) for name in chosen})

    return arrow_source(_LABEL, fields, types, read)


def as_text(value: object) -> str | None:
    """Return the text of one value of an object column; None for a missing one or another kind.

    | value                     | text                                                           |
    |---------------------------|----------------------------------------------------------------|
    | "blue", b"blue"           | blue (None if it is not UTF-8)                                 |
    | True, 3, 2.5, Decimal     | True, 3, 2.5, its plain digits                                 |
    | a date, a datetime        | 2024-02-29, 2024-02-29 13:05:00                                |
    | None, NaN, NaT, NA, a list, anything else | None                                           |
    """
    if isinstance(value, str):
        return _encodable(str.__str__(value))
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int)):
        return str(value) if abs(value) < 10**40 else None
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return f"{value:f}" if value.is_finite() and abs(value.adjusted()) < 400 else None
    if isinstance(value, datetime.datetime):
        return None if pd.isna(value) else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else None


def _kind(dtype: Any) -> str:
    if isinstance(dtype, (pd.CategoricalDtype, pd.StringDtype)) or dtype == np.dtype(object):
        return "VARCHAR"
    if isinstance(dtype, pd.ArrowDtype):
        return kind_of(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "TIMESTAMP"
    plain = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    if not isinstance(plain, np.dtype) or plain.kind not in "iufbM" or plain.itemsize > 8:
        return "OTHER"
    return kind_of(pa.from_numpy_dtype(plain))


def _array(series: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = pd.Series(series.cat.categories)
        stored = _stored(categories)
        names = _texts(categories.tolist()) if stored is None else stored.combine_chunks()
        return names.take(pa.array(series.cat.codes.to_numpy(), mask=series.cat.codes.to_numpy() < 0))
    if (stored := _stored(series)) is not None:
        return stored
    if isinstance(dtype, pd.StringDtype) or dtype == np.dtype(object):
        return _texts(series.tolist())
    return pa.array(series, from_pandas=True)


def _stored(series: pd.Series[Any]) -> pa.ChunkedArray | None:
    """Return the Arrow text that a column holds, None if it holds other things.

    Made into Python's text, one value that is not UTF-8 would fail all of them.
    """
    dtype = series.dtype
    text = isinstance(dtype, pd.ArrowDtype) and _kind(dtype) == "VARCHAR"
    if not text and not (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"):
        return None
    stored = pa.array(series.array)
    return valid(stored if isinstance(stored, pa.ChunkedArray) else pa.chunked_array([stored]))


def _texts(values: Sequence[object]) -> pa.Array:
    """Return `as_text` of each value; the same, faster, where all are str or None."""
    if set(map(type, values)) <= {str, type(None)}:
        with contextlib.suppress(UnicodeEncodeError):
            return pa.array(values, pa.large_string())
    return pa.array([as_text(value) for value in values], pa.large_string())


def _encodable(value: str) -> str | None:
    """Return the text unless it holds half a surrogate pair, which no file could hold."""
    return value if value.isascii() or value.encode(errors="replace").decode() == value else None


def _decoded(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
