"""Where a device keeps what it must remember: a file of its own, or any storage with these three methods.

| method             | what it does                                                                    |
|--------------------|---------------------------------------------------------------------------------|
| settle(key, value) | keeps the value unless the key has one; returns the one that is kept            |
| replace(key, value)| keeps this value                                                                |
| clear()            | forgets everything                                                              |

Keys and values are bytes. A storage that cannot do it raises OSError, and ValueError if what it holds is
unreadable. `settle` must be atomic if several processes of one device share the storage: then all of them
give the same answer, whoever drew first.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol


class Storage(Protocol):
    """What a memo needs."""

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        ...

    def replace(self, key: bytes, value: bytes) -> None:
        """Keep this value."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class DictStorage(dict[bytes, bytes]):
    """Remembers until the process ends: for tests, and for research with one report a person."""

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        return self.setdefault(key, value)

    def replace(self, key: bytes, value: bytes) -> None:
        """Keep this value."""
        self[key] = value


class SQLiteStorage:
    """Remembers in a file that only its owner may read (mode 0600); safe with several processes and threads.

    Every call opens the file anew, so that a fork or a thread never shares a connection.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        with self._open() as connection:
            found = connection.execute("SELECT value FROM memo WHERE key = ?", (key,)).fetchone()
            if found is None:
                connection.execute("INSERT INTO memo VALUES (?, ?)", (key, value))
            kept = value if found is None else found[0]
            return kept if isinstance(kept, bytes) else b""

    def replace(self, key: bytes, value: bytes) -> None:
        """Keep this value."""
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO memo VALUES (?, ?)", (key, value))

    def clear(self) -> None:
        """Forget everything: the file is removed, so that even an unreadable one makes room."""
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file in a transaction of its own, which holds off every other writer."""
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            connection = sqlite3.connect(self.path, timeout=5, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("CREATE TABLE IF NOT EXISTS memo (key BLOB PRIMARY KEY, value BLOB)")
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.OperationalError:
            raise OSError("the memo cannot be read or written now") from None
        except sqlite3.DatabaseError:
            raise ValueError("the memo is no readable database") from None
