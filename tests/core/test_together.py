"""Calls that share the work of one: rounds, and whom an error reaches."""

import asyncio
from collections.abc import Sequence

import pytest

from backend.core.together import MOST, Together


class Work:
    """Answers with the tenfold of each number, one round at a time, when it is allowed to."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        """Refuse 13 alone, and every number of a round with a 0."""
        self.rounds.append(list(numbers))
        self.begun.set()
        await self.gate.wait()
        if 0 in numbers:
            raise ConnectionError("the whole round")
        return [ValueError("13") if number == 13 else number * 10 for number in numbers]


async def test_what_comes_during_a_round_is_the_next_round() -> None:
    work = Work()
    together = Together(work)
    assert await together.ask(1) == 10
    work.gate.clear()
    work.begun.clear()
    first = asyncio.create_task(together.ask(2))
    await work.begun.wait()
    others = [asyncio.create_task(together.ask(number)) for number in (3, 4, 5)]
    await asyncio.sleep(0)
    work.gate.set()
    assert await asyncio.gather(first, *others) == [20, 30, 40, 50]
    assert work.rounds == [[1], [2], [3, 4, 5]]


async def test_refusal_of_one_item_reaches_its_caller_alone() -> None:
    together = Together(Work())
    found = await asyncio.gather(*(together.ask(number) for number in (1, 13, 2)), return_exceptions=True)
    assert (found[0], str(found[1]), found[2]) == (10, "13", 20)


async def test_failure_of_a_round_reaches_all_of_it_and_no_other() -> None:
    together = Together(Work())
    found = await asyncio.gather(*(together.ask(number) for number in (1, 0)), return_exceptions=True)
    assert [str(one) for one in found] == ["the whole round"] * 2
    assert await together.ask(2) == 20


async def test_caller_that_is_cancelled_affects_no_other() -> None:
    work = Work()
    work.gate.clear()
    together = Together(work)
    leaving, staying = (asyncio.create_task(together.ask(number)) for number in (1, 2))
    await work.begun.wait()
    leaving.cancel()
    work.gate.set()
    assert await staying == 20
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_many_items_are_several_rounds() -> None:
    work = Work()
    together = Together(work)
    found = await asyncio.gather(*(together.ask(number) for number in range(20, 20 + 2 * MOST + 1)))
    assert found == [number * 10 for number in range(20, 20 + 2 * MOST + 1)]
    assert [len(numbers) for numbers in work.rounds] == [MOST, MOST, 1]
