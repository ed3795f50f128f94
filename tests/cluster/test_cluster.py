"""`make cluster`, where Redis and nginx are installed."""

import subprocess
import sys

import pytest


@pytest.mark.nightly
def test_cluster_survives_the_death_of_each_part() -> None:
    # In a process of its own: it has other settings than the other tests of this process.
    command = [sys.executable, "-m", "tests.cluster"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_cluster_without_its_programs_ends_with_one_line() -> None:
    command = [sys.executable, "-m", "tests.cluster"]
    ended = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "The cluster needs redis-server (Debian's package redis-server) and nginx (Debian's package nginx).\n"
    )
