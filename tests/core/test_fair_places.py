"""Database connections are shared fairly: one caller cannot use them up."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core import fair_places
from backend.core.errors import TooManyRequests, Unavailable
from backend.core.fair_places import Places


async def take(places: Places, *callers: str) -> list[asyncio.Task[None]]:
    """Request a place for each caller; return the tasks of those that have to wait."""
    tasks = [asyncio.create_task(places.take(caller)) for caller in callers]
    await asyncio.sleep(0)
    return [task for task in tasks if not task.done()]


async def test_free_place_goes_to_the_caller_with_the_fewest() -> None:
    places = Places(4, 60)
    first, *_ = await take(places, "a", "a", "b", "b", "a", "c")
    places.give_back("b")
    await asyncio.sleep(0)
    assert not first.done(), "c came later, and holds none"
    places.give_back("a")
    await asyncio.wait_for(first, 10)


async def test_caller_holds_at_most_half_of_the_places() -> None:
    places = Places(4, 60)
    (waits,) = await take(places, "a", "a", "a")
    assert await take(places, "b") == []
    places.give_back("b")
    await asyncio.sleep(0)
    assert not waits.done()
    places.give_back("a")
    await asyncio.wait_for(waits, 10)


async def test_caller_with_several_names_counts_under_each() -> None:
    places = Places(4, 60)
    await places.take("ada", "acme")
    await places.take("ada", "beta")
    waiting = asyncio.create_task(places.take("ada", "gamma"))
    await places.take("bob", "acme")
    behind = asyncio.create_task(places.take("eve", "acme"))
    await asyncio.sleep(0)
    assert await take(places, "bob") == []
    places.give_back("bob", "acme")
    await asyncio.wait_for(behind, 10)
    assert not waiting.done(), "ada holds half of the places"
    places.give_back("ada", "beta")
    await asyncio.wait_for(waiting, 10)


async def test_free_place_goes_to_the_caller_of_a_full_root_with_the_fewest() -> None:
    places = Places(8, 60)
    for name in ("ada", "ada", "ada", "bob"):
        await places.take(name, "acme")
    behind = asyncio.create_task(places.take("ada", "acme"))
    await asyncio.sleep(0)
    first = asyncio.create_task(places.take("eve", "acme"))
    await asyncio.sleep(0)
    places.give_back("bob", "acme")
    await asyncio.wait_for(first, 10)
    assert not behind.done(), "eve came later, and holds none"
    behind.cancel()


async def test_narrow_names_hold_at_most_their_own_limit() -> None:
    places = Places(8, 60, narrow=2)
    for _ in range(2):
        await places.take("ada", "unit", "acme")
    assert not places.take_free("ada", "acme")
    assert not places.take_free("bob", "unit", "acme")
    for name in ("bob", "eve"):
        await places.take(name, "acme")
    assert not places.take_free("joe", "acme")


async def test_caller_with_many_waiting_requests_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_places, "WAITING_EACH", 2)
    places = Places(2, 60)
    waiting = await take(places, "a", "a", "a")
    with pytest.raises(TooManyRequests):
        await places.take("a")
    assert await take(places, "b") == []
    places.give_back("a")
    places.give_back("a")
    await asyncio.wait_for(asyncio.gather(*waiting[:1]), 10)


async def test_wait_for_a_place_ends_with_a_refusal() -> None:
    places = Places(2, 0.01)
    await places.take("a")
    with pytest.raises(Unavailable):
        await places.take("a")
    places.give_back("a")
    await places.take("a")


async def test_wait_is_shorter_while_others_always_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_places, "CROWDED", 0.0)
    places = Places(2, 600, crowded=0.01)
    await take(places, "a", "b")
    with pytest.raises(Unavailable) as refused:
        await asyncio.wait_for(places.take("c"), 10)
    assert refused.value.headers == {"Retry-After": "5"}


@pytest.mark.parametrize(("crowded_after", "first"), [(600.0, 0), (0.0, 1)])
async def test_first_request_is_served_first_and_in_a_crowd_the_last_one(
    monkeypatch: pytest.MonkeyPatch, crowded_after: float, first: int
) -> None:
    monkeypatch.setattr(fair_places, "CROWDED", crowded_after)
    places = Places(2, 600, crowded=600)
    await take(places, "a", "b")
    waits = await take(places, "c", "c")
    places.give_back("a")
    await waits[first]
    assert not waits[1 - first].done()
    waits[1 - first].cancel()


async def test_wait_is_as_long_again_after_everyone_was_served(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    monkeypatch.setattr(fair_places, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    places = Places(2, 0.01, crowded=600)
    await take(places, "a", "b")
    (waits,) = await take(places, "c")
    places.give_back("a")
    await waits
    clock[0] += fair_places.CROWDED
    with pytest.raises(Unavailable):
        await places.take("d")
    (waits,) = await take(places, "e")
    clock[0] += fair_places.CROWDED
    (patient,) = await take(places, "f")
    with pytest.raises(Unavailable):
        await waits
    assert not patient.done(), "someone has always been waiting since the fifth came"
    patient.cancel()


async def test_work_without_a_deadline_waits_in_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_places, "WAITING_EACH", 2)
    places = Places(9, None, each=1)
    waiting = await take(places, *"aaaaa")
    assert len(waiting) == 4
    assert await take(places, "b") == []
    for _ in range(4):
        places.give_back("a")
    await asyncio.wait_for(asyncio.gather(*waiting), 10)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
def test_places_are_neither_lost_nor_created(steps: list[tuple[str, bool]]) -> None:
    asyncio.run(_walk(steps))


async def _walk(steps: list[tuple[str, bool]]) -> None:
    places, held, waiting = Places(4, 60), [], []

    async def hold(caller: str) -> None:
        await places.take(caller)
        held.append(caller)

    for caller, gives_back in steps:
        if gives_back and held:
            places.give_back(held.pop(0))
        elif gives_back and waiting:
            waiting.pop().cancel()
        else:
            waiting.append(asyncio.create_task(hold(caller)))
        for _ in range(4):
            await asyncio.sleep(0)
        waiting = [task for task in waiting if not task.done()]
        assert len(held) <= 4
        assert all(held.count(name) <= 2 for name in "abc")
        names = {name for name in "abc" if held.count(name) < 2}
        assert len(held) == 4 or not [t for t in waiting if _caller_of(t) in names]
    for task in waiting:
        task.cancel()


def _caller_of(task: Any) -> str:
    return str(task.get_coro().cr_frame.f_locals["caller"])
