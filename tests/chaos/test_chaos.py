"""A few runs of `make chaos`, and its choice of faults."""

import subprocess
import sys

import pytest

from tests.chaos.faults import FAULTS, SHORT_WINDOW, chosen

PARTS = ["web", "worker-1", "postgres"]


def test_same_seed_chooses_the_same_faults() -> None:
    assert chosen(7, PARTS, fills=True) == chosen(7, PARTS, fills=True)
    assert chosen(7, PARTS, fills=True) != chosen(8, PARTS, fills=True)
    assert all(FAULTS[0] <= len(chosen(seed, PARTS, fills=True)) <= FAULTS[1] for seed in range(50))


def test_disk_is_filled_only_where_it_is_the_installation_s_own() -> None:
    kinds = {fault.kind for seed in range(50) for fault in chosen(seed, PARTS, fills=False)}
    assert kinds == {"kill", "stop", "slow"}


def test_faults_of_a_short_run_begin_early_and_end_soon() -> None:
    faults = [fault for seed in range(50) for fault in chosen(seed, PARTS, fills=True, is_short=True)]
    assert max(fault.at for fault in faults) <= SHORT_WINDOW
    assert max(fault.seconds for fault in faults) <= 6


@pytest.mark.parametrize("runs", [("1", "10", "--short"), pytest.param(("1", "3"), marks=pytest.mark.long)])
def test_installation_survives_faults(runs: tuple[str, ...]) -> None:
    # In a process of its own: it has another database than the other tests of this process.
    seed, count, *short = runs
    command = [sys.executable, "-m", "tests.chaos", "--seed", seed, "--runs", count, *short]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "runs with findings: none" in ended.stdout
