"""The state of a process: one of each part, and one of each per event loop."""

import asyncio
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from backend.core.runtime import Runtime


@dataclass
class Floors:
    """Some state."""

    heights: dict[int, int] = field(default_factory=dict)


@dataclass
class Pools:
    """Some other state."""

    names: list[str] = field(default_factory=list)


@pytest.fixture
def process() -> Runtime:
    return Runtime()


def test_part_is_the_same_at_every_use(process: Runtime) -> None:
    process.part(Floors).heights[1] = 7
    assert process.part(Floors).heights == {1: 7}
    assert process.part(Floors) is not process.part(Pools)


def test_part_belongs_to_its_process_only(process: Runtime) -> None:
    assert process.part(Floors) is not Runtime().part(Floors)


def test_part_may_be_made_by_a_function(process: Runtime) -> None:
    def first_height() -> Floors:
        return Floors({1: len(process.part(Pools).names)})

    assert process.part(first_height) is process.part(first_height)
    assert process.part(first_height).heights == {1: 0}


def test_part_is_made_once_under_threads(process: Runtime) -> None:
    made, together = [], threading.Barrier(8)

    def slow() -> Floors:
        time.sleep(0.01)
        made.append(Floors())
        return made[-1]

    def ask(_: int) -> Floors:
        together.wait()
        return process.part(slow)

    with ThreadPoolExecutor(8) as threads:
        answer = list(threads.map(ask, range(8)))
    assert len(made) == 1
    assert {id(part) for part in answer} == {id(made[0])}


def test_part_that_fails_is_made_again_at_the_next_use(process: Runtime) -> None:
    attempts: list[int] = []

    def unlucky() -> Floors:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("busy")
        return Floors()

    with pytest.raises(OSError, match="busy"):
        process.part(unlucky)
    assert process.part(unlucky) is process.part(unlucky)
    assert len(attempts) == 2


def test_each_loop_has_its_own_part(process: Runtime) -> None:
    async def both() -> tuple[Pools, Pools]:
        return process.loop_part(Pools), process.loop_part(Pools)

    with asyncio.Runner() as one, asyncio.Runner() as other:
        first, again = one.run(both())
        second, _ = other.run(both())
        assert first is again
        assert first is not second
        assert [id(part) for part in process.loop_parts(Pools)] == [id(first), id(second)]
    assert process.loop_parts(Floors) == []


def test_part_ends_with_its_loop(process: Runtime) -> None:
    async def use() -> None:
        process.loop_part(Pools)

    asyncio.run(use())
    gc.collect()
    assert process.loop_parts(Pools) == []


def test_loop_part_needs_a_running_loop(process: Runtime) -> None:
    with pytest.raises(RuntimeError):
        process.loop_part(Pools)


def test_reset_begins_with_no_part(process: Runtime) -> None:
    async def story() -> None:
        before = process.part(Floors), process.loop_part(Pools)
        process.reset()
        assert process.loop_parts(Pools) == []
        assert process.part(Floors) is not before[0]
        assert process.loop_part(Pools) is not before[1]

    asyncio.run(story())


def test_reset_of_one_part_keeps_the_others(process: Runtime) -> None:
    kept, forgotten = process.part(Pools), process.part(Floors)
    process.reset(Floors)
    assert process.part(Pools) is kept
    assert process.part(Floors) is not forgotten
