"""A private folder for what does not fit in memory, gone at the end whatever the end is.

| the process                         | who removes the folder                                      |
|-------------------------------------|-------------------------------------------------------------|
| leaves the `with` block, or raises  | `__exit__`                                                  |
| is interrupted (Ctrl-C)             | `__exit__`, on the way out                                  |
| is killed (`kill -9`), runs out of memory | the janitor: a child that waits for its parent to end |

The janitor holds one end of a pipe whose other end only this process has: the end of this process, by
any cause, closes it. Children that this process forks without exec may hold a copy, so the janitor also
looks once a second whether its parent is still there. It sits in a session of its own: a Ctrl-C in the
terminal, or the terminal closing, must not end the janitor before the work.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Self

_JANITOR = """
import os, select, shutil, sys
folder, parent = sys.argv[1], int(sys.argv[2])
while os.getppid() == parent:
    try:
        if select.select([0], [], [], 1)[0] and not os.read(0, 1):
            break
    except (OSError, ValueError):
        os.read(0, 1)
        break
shutil.rmtree(folder, ignore_errors=True)
"""


class SpillFolder:
    """A folder that only its owner can enter (mode 0700); see the table above for when it goes.

    Args:   parent: the folder to make it in; the temporary directory if None. prefix: of its name.
    Fields: `path`, absolute text.
    Raises: OSError: the folder around it is not writable.
    """

    path: str

    def __init__(self, parent: str | None = None, prefix: str = "deniable-") -> None:
        self._parent = parent
        self._prefix = prefix

    def __enter__(self) -> Self:
        import os

        self.path = tempfile.mkdtemp(prefix=self._prefix, dir=self._parent)
        command = [os.path.abspath(sys.executable), "-I", "-S", "-c", _JANITOR, self.path, str(os.getpid())]
        try:
            self._janitor = subprocess.Popen(  # noqa: S603 - this interpreter, our text, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/" if os.name == "posix" else None,
            )
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._janitor.stdin is not None:
            with contextlib.suppress(OSError):
                self._janitor.stdin.close()
        self._janitor.wait()
