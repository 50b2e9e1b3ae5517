"""Reports that a device gives every day: one answer is drawn for each value, remembered, and given again.

    rappor = dn.local.telemetry.RAPPOR(epsilon=2)
    client = rappor.client(Memo(SQLiteStorage("memo.sqlite"), owner="installation 7"))

| protocol   | value             | estimate                             | source                           |
|------------|-------------------|--------------------------------------|----------------------------------|
| RAPPOR     | any text          | shares of candidates, named later    | Erlingsson, Pihur, Korolova 2014 |
| OneBitMean | a number          | the mean                             | Ding, Kulkarni, Yekhanin 2017    |
| DBitFlip   | an item of a list | the share of each item               | Ding, Kulkarni, Yekhanin 2017    |

What each costs is said twice. `event`: one report, looked at alone. `permanent`: everything that is ever
reported about one value that does not change. Values that change are another matter: *that* and *when* they
change is not hidden by a permanent answer, and no sum covers it. `memo` says what does add up.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.local.telemetry.dbitflip import DBitFlip as DBitFlip
    from deniable.local.telemetry.memo import Memo as Memo
    from deniable.local.telemetry.memo import MemoClient as MemoClient
    from deniable.local.telemetry.onebit import OneBitMean as OneBitMean
    from deniable.local.telemetry.rappor import RAPPOR as RAPPOR
    from deniable.local.telemetry.storage import DictStorage as DictStorage
    from deniable.local.telemetry.storage import SQLiteStorage as SQLiteStorage

_NAMES: dict[str, str] = {
    "DBitFlip": "deniable.local.telemetry.dbitflip",
    "DictStorage": "deniable.local.telemetry.storage",
    "Memo": "deniable.local.telemetry.memo",
    "MemoClient": "deniable.local.telemetry.memo",
    "OneBitMean": "deniable.local.telemetry.onebit",
    "RAPPOR": "deniable.local.telemetry.rappor",
    "SQLiteStorage": "deniable.local.telemetry.storage",
}

__all__ = ["RAPPOR", "DBitFlip", "DictStorage", "Memo", "MemoClient", "OneBitMean", "SQLiteStorage"]


def __getattr__(name: str) -> object:
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'deniable.local.telemetry' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
