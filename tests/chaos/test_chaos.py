"""A few runs of `make chaos`, and its choice of faults."""

import pytest

from tests.chaos.faults import FAULTS, chosen
from tests.chaos.run import Chaos

PARTS = ["web", "worker-1", "postgres"]


def test_same_seed_chooses_the_same_faults() -> None:
    assert chosen(7, PARTS, fills=True) == chosen(7, PARTS, fills=True)
    assert chosen(7, PARTS, fills=True) != chosen(8, PARTS, fills=True)
    assert all(FAULTS[0] <= len(chosen(seed, PARTS, fills=True)) <= FAULTS[1] for seed in range(50))


def test_disk_is_filled_only_where_it_is_the_installation_s_own() -> None:
    kinds = {fault.kind for seed in range(50) for fault in chosen(seed, PARTS, fills=False)}
    assert kinds == {"kill", "stop", "slow"}


@pytest.mark.long
async def test_installation_survives_faults() -> None:
    chaos = Chaos(seed=1, runs=3)
    assert await chaos.play(), [*chaos.commands, *(result for result in chaos.results if result.findings)]
