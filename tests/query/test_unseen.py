"""Whatever ends a release early, nothing private can be reached from what is raised."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from deniable.bits import SeededBits
from deniable.engines.unseen import unseen
from deniable.errors import EngineError, NoiseError, SourceError
from deniable.query import aggregates as dn
from deniable.query.plan import Plan
from deniable.query.survey import protect

PACKAGE = str(Path(unseen.__code__.co_filename).parents[1])
SECRET = "Zebedee-4711"
PEOPLE = 7919
OPAQUE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, threading.Thread)


class Failing(SeededBits):
    """Seeded bits that raise something after a number of fillings."""

    def __init__(self, after: int, error: Callable[[], BaseException]) -> None:
        super().__init__(1, insecure=True)
        self._left, self._error = after, error

    def fill(self, buffer: Any) -> None:
        self._left -= 1
        if self._left < 0:
            raise self._error()
        super().fill(buffer)


def planned(folder: Path, **options: Any) -> Plan:
    path = folder / "people.csv"
    lines = [f"{person},{SECRET},1" for person in range(PEOPLE)] + ["0,blue,3"]
    path.write_text("\n".join(["person,colour,spend", *lines]) + "\n")
    groups = protect(path, unit="person").group_by("colour", max_groups=1, **options)
    asked = groups.aggregate(n=dn.units(), s=dn.sum("spend", bounds=(0, 1), max_rows=1))
    return asked.plan(epsilon=1, delta="1e-6")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return planned(tmp_path_factory.mktemp("people"))


def led_to(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything on its chains of causes and contexts."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [next_ for next_ in (one.__cause__, one.__context__) if next_ is not None]


def frames_of(error: BaseException) -> Iterator[types.FrameType]:
    """Yield every frame of the package that a traceback of the error still holds."""
    for one in led_to(error):
        trace = one.__traceback__
        while trace is not None:
            if (
                "deniable" in trace.tb_frame.f_code.co_filename
                and "tests" not in trace.tb_frame.f_code.co_filename
            ):
                yield trace.tb_frame
            trace = trace.tb_next


def reachable(error: BaseException) -> Iterator[object]:
    """Yield every object that can be reached from those frames and from the errors themselves."""
    waiting: list[object] = [dict(frame.f_locals) for frame in frames_of(error)]
    waiting += [one.args for one in led_to(error)] + [vars(one) for one in led_to(error)]
    seen: set[int] = set()
    kept = []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, OPAQUE):
            continue
        seen.add(id(one))
        kept.append(one)
        yield one
        waiting += gc.get_referents(one)


def holds_a_secret(one: object) -> bool:
    """Tell whether an object shows the planted key, or the true number of people as a number of the data."""
    match one:
        case str():
            return SECRET in one
        case bytes():
            return SECRET.encode() in one
        case np.ndarray():
            return PEOPLE in one.tolist()
        case pa.RecordBatch() | pa.Table():
            return any(holds_a_secret(column) for column in one.columns)
        case pa.Array() | pa.ChunkedArray():
            return SECRET in one.to_pylist() or PEOPLE in one.to_pylist()
        case int():
            return not isinstance(one, bool) and one == PEOPLE
        case _:
            return False


def leaks(error: BaseException) -> list[str]:
    return [type(one).__name__ for one in reachable(error) if holds_a_secret(one)]


def raised_by(plan: Plan, bits: SeededBits) -> BaseException:
    gc.collect()
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - any error must hold nothing
        plan.release(bits=bits)
    return caught.value


def test_the_search_finds_what_is_planted() -> None:
    def reads() -> None:
        counts = np.array([PEOPLE])
        raise ValueError(len(counts))

    reads.__code__ = reads.__code__.replace(co_filename=f"{PACKAGE}/planted.py")
    with pytest.raises(ValueError, match="1") as caught:
        reads()
    assert leaks(caught.value) == ["ndarray"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, SystemExit, NoiseError, ValueError])
@pytest.mark.parametrize("after", [0, 2])
def test_an_end_while_noise_is_drawn_leaves_no_private_frame(plan: Plan, kind: type, after: int) -> None:
    words = SECRET if kind is ValueError else "stop"
    error = raised_by(plan, Failing(after, lambda: kind(words)))
    own = kind in (KeyboardInterrupt, SystemExit, NoiseError)
    assert type(error) is (kind if own else EngineError)
    assert leaks(error) == []
    assert [frame.f_code.co_name for frame in frames_of(error)][-1] == "unseen"


def test_an_end_of_a_release_of_declared_keys_leaves_no_private_frame(tmp_path: Path) -> None:
    plan = planned(tmp_path, keys=["blue", "red"])
    assert leaks(raised_by(plan, Failing(1, KeyboardInterrupt))) == []


def test_a_failing_engine_leaves_nothing_of_its_own_message(tmp_path: Path) -> None:
    def fails() -> Iterator[pa.RecordBatch]:
        yield from ()
        raise RuntimeError(SECRET)

    class Table:
        def __arrow_c_stream__(self, schema: object = None) -> object:
            reader = pa.RecordBatchReader.from_batches(pa.schema({"person": pa.string()}), fails())
            return reader.__arrow_c_stream__(schema)

    plan = protect(Table(), unit="person").aggregate(n=dn.units()).plan(epsilon=1)
    error = raised_by(plan, SeededBits(1, insecure=True))
    assert type(error) is EngineError
    assert leaks(error) == []


def test_the_engine_itself_drops_the_error_that_it_hides() -> None:
    from deniable.engines.duckdb import DuckDB

    with DuckDB(threads=1) as engine:
        with pytest.raises(EngineError) as caught:
            engine.execute(f"SELECT CAST('{SECRET[:4]}' || '{SECRET[4:]}' AS INTEGER)")
        frames = [frame for frame in frames_of(caught.value) if frame.f_code.co_name == "run"]
        assert frames
        assert all("future" not in frame.f_locals for frame in frames)


@pytest.mark.skipif(sys.platform == "win32", reason="the signal is sent as a terminal would send it")
def test_a_real_interrupt_leaves_no_private_frame(plan: Plan) -> None:
    def interrupted() -> BaseException:
        signal.raise_signal(signal.SIGINT)
        return KeyboardInterrupt("the signal came late")

    assert leaks(raised_by(plan, Failing(1, interrupted))) == []


def test_causes_and_contexts_are_emptied_too() -> None:
    def first() -> None:
        counts = np.array([PEOPLE])
        raise ValueError(SECRET, counts)

    def second() -> None:
        try:
            first()
        except ValueError as error:
            raise SourceError("the file changed") from error

    with pytest.raises(SourceError, match="the file changed") as caught:
        unseen(second)
    assert list(led_to(caught.value)) == [caught.value]
    assert leaks(caught.value) == []
