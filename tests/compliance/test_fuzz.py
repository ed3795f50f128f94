"""A short run of `make fuzz`, in a process and on a chain of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from backend.chain.install import binary
from tests.conftest import HOME

CHECKOUT = Path(__file__).resolve().parents[2]


def test_our_decisions_are_those_of_the_contracts() -> None:
    command = [sys.executable, "-m", "tests.compliance.fuzz", "2400", "--seed", "20261120"]
    environment = os.environ | {"SIGNUM_ANVIL": str(binary(HOME))}
    told = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert re.match(r"2400 cases in \d+ scenes, .*: 0 differences", told.stdout), told.stdout
