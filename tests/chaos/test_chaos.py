"""A few runs of `make chaos`, and its choice of faults."""

import subprocess
import sys

import pytest

from tests.chaos.faults import FAULTS, chosen

PARTS = ["web", "worker-1", "postgres"]


def test_same_seed_chooses_the_same_faults() -> None:
    assert chosen(7, PARTS, fills=True) == chosen(7, PARTS, fills=True)
    assert chosen(7, PARTS, fills=True) != chosen(8, PARTS, fills=True)
    assert all(FAULTS[0] <= len(chosen(seed, PARTS, fills=True)) <= FAULTS[1] for seed in range(50))


def test_disk_is_filled_only_where_it_is_the_installation_s_own() -> None:
    kinds = {fault.kind for seed in range(50) for fault in chosen(seed, PARTS, fills=False)}
    assert kinds == {"kill", "stop", "slow"}


@pytest.mark.long
def test_installation_survives_faults() -> None:
    # In a process of its own: it has another database than the other tests of this process.
    command = [sys.executable, "-m", "tests.chaos", "--seed", "1", "--runs", "3"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "runs with findings: none" in ended.stdout
