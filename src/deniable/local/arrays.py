"""Arrays in a researcher's hand: a masked entry is missing, whatever number lies under the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import WITHHELD, ParameterError


def unmasked(values: Any, argument: str = "values") -> NDArray[Any]:
    """Return the values as a plain array, as `numpy.asarray` reads them, which would drop a mask.

    Raises:  ParameterError: some entry is masked, in an array or in a list (of lists) that holds one.
    """
    if _masked(values):
        fix = "Leave masked entries out (.compressed()), or fill them by a rule of your own (.filled(0))."
        raise ParameterError(argument, WITHHELD, "hold masked entries", fix)
    return np.asarray(values)


def _masked(values: Any) -> bool:
    if isinstance(values, np.ma.MaskedArray):
        return bool(np.ma.is_masked(values))
    if not isinstance(values, list | tuple):
        return False
    kinds = set(map(type, values))
    return any(issubclass(kind, np.ma.MaskedArray | list | tuple) for kind in kinds) and any(
        map(_masked, values)
    )
