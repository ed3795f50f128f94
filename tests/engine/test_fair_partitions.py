"""Free slots of a queue go to the shares that hold the fewest, at most a quarter each."""

from collections import Counter
from collections.abc import Iterator

import pytest

from backend.core.runtime import runtime
from backend.engine.fair_partitions import EACH, SlowReceivers, choose, name_of

SLOTS = 40


@pytest.fixture(autouse=True)
def no_slow_receivers() -> Iterator[None]:
    """Receivers that other tests found slow do not count."""
    runtime.reset(SlowReceivers)
    yield
    runtime.reset(SlowReceivers)


def partitions(count: int, *shares: str) -> list[str]:
    """Names of partitions with the same shares."""
    return [name_of(f"{'-'.join(shares)}-{number}", *shares) for number in range(count)]


def held(chosen: dict[str, int], share: str) -> int:
    return sum(count for name, count in chosen.items() if share in name.split("/")[:-1])


def test_share_with_many_partitions_gets_a_quarter_of_the_slots() -> None:
    chosen = choose(partitions(1_280, "root", "anna"), {}, SLOTS)
    assert (sum(chosen.values()), set(chosen.values())) == (SLOTS // 4, {1})


def test_maker_of_many_roots_gets_a_quarter_of_the_slots() -> None:
    waiting = [name for root in range(10) for name in partitions(20, f"root{root}", "mallory")]
    chosen = choose([*waiting, *partitions(1, "acme", "anna")], {}, SLOTS)
    assert (held(chosen, "mallory"), held(chosen, "anna")) == (SLOTS // 4, EACH)


def test_root_of_many_makers_gets_a_quarter_of_the_slots() -> None:
    waiting = [name for number in range(10) for name in partitions(3, "root", f"person{number}")]
    assert held(choose(waiting, {}, SLOTS), "root") == SLOTS // 4


def test_share_at_its_limit_starts_nothing() -> None:
    full = partitions(3, "root", "anna")
    running = Counter({full[0]: EACH, full[1]: EACH})
    assert choose(full, running, SLOTS) == {}


def test_free_slot_goes_to_the_share_with_the_fewest() -> None:
    many, few = partitions(2, "root", "anna"), partitions(1, "acme", "bert")
    running = Counter({many[0]: 2, "other": SLOTS - 3})
    assert choose([*many, *few], running, SLOTS) == {few[0]: 1}


def test_free_slot_of_a_root_goes_to_the_maker_with_the_fewest() -> None:
    many, few = partitions(9, "root", "anna"), partitions(1, "root", "bert")
    running = Counter(dict.fromkeys(many, 1))
    assert choose([*many, *few], running, SLOTS) == {few[0]: 1}


def test_person_with_slots_in_another_root_comes_after_others() -> None:
    mallory, anna = partitions(1, "second", "mallory"), partitions(1, "acme", "anna")
    running = Counter({name_of("hook", "first", "mallory"): 3, anna[0]: 1, "other": SLOTS - 5})
    assert choose([*mallory, *anna], running, SLOTS) == {anna[0]: 1}


def test_partition_starts_at_most_five() -> None:
    (name,) = partitions(1, "root", "anna")
    assert choose([name], {}, SLOTS) == {name: EACH}
    assert choose([name], {name: 3}, SLOTS) == {name: EACH - 3}


def test_partition_of_a_slow_receiver_starts_one() -> None:
    (name,) = partitions(1, "root", "anna")
    slow = runtime.part(SlowReceivers)
    slow.note(name.split("/")[-1], True)
    assert choose([name], {}, SLOTS) == {name: 1}
    assert choose([name], {name: 1}, SLOTS) == {}
    slow.note(name.split("/")[-1], False)
    assert choose([name], {}, SLOTS) == {name: EACH}


def test_partition_without_shares_starts_five() -> None:
    assert choose(["01a1f84f"], {}, SLOTS) == {"01a1f84f": EACH}


def test_queue_without_free_slots_starts_nothing() -> None:
    assert choose(partitions(1, "acme", "anna"), Counter(other=SLOTS), SLOTS) == {}
