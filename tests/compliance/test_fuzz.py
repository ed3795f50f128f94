"""A short run of `make fuzz`, in a process and on a chain of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from backend.chain.install import binary
from tests.conftest import HOME

CHECKOUT = Path(__file__).resolve().parents[2]
LIE = """
import sys
from tests.compliance import fuzz
fuzz.failures = lambda verdicts: [v for v in verdicts if not v.passed and v.code != 5]
sys.exit(fuzz.main())
"""


def test_our_decisions_are_those_of_the_contracts() -> None:
    told = fuzz("-m", "tests.compliance.fuzz", "2400", "--seed", "20261120")
    assert told.returncode == 0, told.stdout + told.stderr
    assert re.match(r"2400 cases in \d+ scenes, .*: 0 differences", told.stdout), told.stdout


def test_a_difference_is_brought_down_to_its_smallest_case() -> None:
    """We forget that frozen tokens stay. What is told is one movement, under rules that do not matter to it."""
    told = fuzz("-c", LIE, "2400", "--seed", "1")
    assert told.returncode == 1, told.stdout + told.stderr
    facts = re.search(r"chain \[5\], we \[\]: (.*)", told.stdout)
    assert facts is not None, told.stdout
    assert "blocked_countries=(), lockup_end_time=0, max_holders=0, max_tokens_per_holder=0" in facts[1]
    assert "paused=False" in facts[1]


def fuzz(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"SIGNUM_ANVIL": str(binary(HOME))}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
