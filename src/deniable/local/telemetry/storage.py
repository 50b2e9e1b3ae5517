"""Where a device keeps what it must remember: a file of its own, or any storage with these four methods.

| method                  | what it does                                                                |
|-------------------------|-----------------------------------------------------------------------------|
| settle(key, value)      | keeps the value unless the key has one; returns the one that is kept        |
| replace(key, old, new)  | keeps the new value if the old one is still kept; returns the one that is   |
| many(beginning)         | how many keys begin so                                                      |
| clear()                 | forgets everything                                                          |

Keys and values are bytes. A storage that cannot do it raises OSError, and ValueError if what it holds is
unreadable. Each method must be atomic if several processes or threads of one device share the storage: then
all of them give the same answer, whoever drew first, and `many` counts every one that was drawn.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Protocol

from deniable.bits import SystemBits
from deniable.errors import ParameterError

_FORM = 2
_LATER = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
"""Why a good file may be out of reach for a while. Everything else says that the file is no memo."""


class Storage(Protocol):
    """What a memo needs."""

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        ...

    def replace(self, key: bytes, old: bytes, new: bytes) -> bytes:
        """Keep the new value if the old one is still kept; return the one that is."""
        ...

    def many(self, beginning: bytes) -> int:
        """Return how many keys begin so."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class DictStorage(dict[bytes, bytes]):
    """Remembers until the process ends: for tests, and for research with one report a person."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        with self._lock:
            return self.setdefault(key, value)

    def replace(self, key: bytes, old: bytes, new: bytes) -> bytes:
        """Keep the new value if the old one is still kept; return the one that is."""
        with self._lock:
            if self.get(key, old) == old:
                self[key] = new
            return self[key]

    def many(self, beginning: bytes) -> int:
        """Return how many keys begin so."""
        with self._lock:
            return sum(key.startswith(beginning) for key in self)


class SQLiteStorage:
    """Remembers in a file that only its owner may read (mode 0600); safe with several processes and threads.

    Every call opens the file anew, so that a fork or a thread never shares a connection. A new file appears
    complete, so one without the table was cut or is no memo.
    Raises:  ParameterError: the path cannot name a file.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            fit = b"\0" not in os.fsencode(path)
        except UnicodeEncodeError:
            fit = False
        if not fit:
            raise ParameterError("path", None, "cannot name a file", "Give for example 'memo.sqlite'.")
        self.path = Path(path).absolute()

    def settle(self, key: bytes, value: bytes) -> bytes:
        """Keep the value unless the key has one; return the one that is kept."""
        with self._open() as connection:
            kept = _kept(connection, key)
            if kept is None:
                connection.execute("INSERT INTO memo (key, value) VALUES (?, ?)", (key, value))
            return value if kept is None else kept

    def replace(self, key: bytes, old: bytes, new: bytes) -> bytes:
        """Keep the new value if the old one is still kept; return the one that is."""
        with self._open() as connection:
            kept = _kept(connection, key)
            if kept is not None and kept != old:
                return kept
            connection.execute("INSERT OR REPLACE INTO memo (key, value) VALUES (?, ?)", (key, new))
            return new

    def many(self, beginning: bytes) -> int:
        """Return how many keys begin so."""
        asked = "SELECT count(*) FROM memo NOT INDEXED WHERE substr(CAST(key AS BLOB), 1, ?) = ?"
        with self._open() as connection:
            return int(connection.execute(asked, (len(beginning), beginning)).fetchone()[0])

    def clear(self) -> None:
        """Forget everything: the file is removed, so that even an unreadable one makes room."""
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file in a transaction of its own, which holds off every other writer."""
        try:
            if not self.path.exists():
                self._create()
            os.close(os.open(self.path, os.O_RDWR))
            _make_private(self.path)
            connection = sqlite3.connect(self.path, timeout=5, isolation_level=None)
            try:
                connection.text_factory = bytes
                connection.execute("BEGIN IMMEDIATE")
                if connection.execute("PRAGMA user_version").fetchone()[0] != _FORM:
                    raise sqlite3.DatabaseError
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 255 in _LATER:
                raise OSError("the memo cannot be read or written now") from None
            raise ValueError("the memo is no readable database") from None

    def _create(self) -> None:
        """Put an empty memo there, complete from the first moment, unless another process was faster."""
        fresh = Path(f"{self.path}.{SystemBits().integer(64):016x}")
        try:
            os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            connection = sqlite3.connect(fresh, isolation_level=None)
            try:
                connection.execute(f"PRAGMA user_version = {_FORM}")
                connection.execute("CREATE TABLE memo (key BLOB PRIMARY KEY, value BLOB)")
            finally:
                connection.close()
            _put(fresh, self.path)
        finally:
            fresh.unlink(missing_ok=True)


def _kept(connection: sqlite3.Connection, key: bytes) -> bytes | None:
    """Return what is kept under a key; nothing of another type is a value, but it is kept."""
    found = connection.execute("SELECT value FROM memo WHERE key = ?", (key,)).fetchone()
    if found is None:
        return None
    return found[0] if isinstance(found[0], bytes) else b""


def _put(fresh: Path, path: Path) -> None:
    """Give a file its name unless that is taken; where there are no links, as good as can be done."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        return
    except OSError:
        if not path.exists():
            fresh.rename(path)


def _make_private(path: Path) -> None:
    """Take the rights of others away, where the file is ours to do so."""
    if path.stat().st_mode & 0o077:
        with suppress(PermissionError):
            path.chmod(0o600)
