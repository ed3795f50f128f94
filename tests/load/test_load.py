"""A short run of `make load`, and its figures."""

import subprocess
import sys

import pytest

from tests.load.arrivals import Sample, latencies, recovered_after, statuses
from tests.load.run import SLOW


def sample(at: float, seconds: float = 0.1, status: str = "200") -> Sample:
    return Sample("assets", at, seconds, status, has_retry_after=status in ("429", "503"))


def test_recovery_ends_with_the_last_call_that_failed_or_was_slow() -> None:
    samples = [sample(99, status="503"), sample(101, status="503"), sample(102), sample(104, 2.0), sample(105)]
    assert recovered_after(samples, 100, longest=1.0) == 4.0
    assert recovered_after(samples, 104.5, longest=1.0) == 0.0


def test_last_call_that_failed_is_no_recovery() -> None:
    assert recovered_after([sample(101), sample(102, status="503")], 100, longest=1.0) is None
    assert recovered_after([sample(99)], 100, longest=1.0) is None


def test_latencies_are_those_of_successful_calls() -> None:
    samples = [sample(number, (number + 1) / 1000) for number in range(100)] + [sample(200, 9.0, "503")]
    assert latencies(samples) == "median 50 ms, p99 99 ms, longest 100 ms"
    assert statuses(samples) == "100 200, 1 503"
    assert latencies([sample(1, status="503")] * 5) == "too few successful calls"


@pytest.mark.long
def test_server_under_load_refuses_what_it_cannot_do_and_does_what_it_accepted() -> None:
    # In a process of its own: it has another database than the other tests of this process.
    command = [sys.executable, "-m", "tests.load", "--seed", "1", "--minutes", "0.5"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    findings = ended.stdout.partition("findings: ")[2].strip()
    # How soon it recovers depends on the machine: `make load` measures it.
    assert findings in ("none", SLOW), ended.stdout + ended.stderr
