"""A short run of `make load`, and its figures."""

import subprocess
import sys

import pytest

from tests.load.arrivals import Sample, latencies, medians, recovered_after, statuses, usual
from tests.load.run import SLOW


def sample(at: float, seconds: float = 0.1, status: str = "200") -> Sample:
    return Sample("assets", at, seconds, status, has_retry_after=status in ("429", "503"))


LONGEST = {"assets": 1.0}


def test_recovery_ends_with_the_last_call_that_failed() -> None:
    samples = [sample(99, status="503"), sample(101, status="503"), sample(102), sample(104, status="429"), sample(105)]
    assert recovered_after(samples, 100, LONGEST) == 4.0
    assert recovered_after(samples, 104.5, LONGEST) == 0.0
    assert recovered_after([sample(101), sample(102, status="503")], 100, LONGEST) is None
    assert recovered_after([sample(99)], 100, LONGEST) is None


def test_recovery_ends_where_calls_are_as_quick_as_usual() -> None:
    quick = [sample(110 + number / 10) for number in range(100)]
    slow = [sample(101, 2.0), sample(102, 2.0)]
    assert recovered_after([*slow, *quick], 100, LONGEST) == 1.0
    assert recovered_after([*slow, *quick, sample(120, 2.0)], 100, LONGEST) == 2.0
    assert recovered_after([*quick, sample(120, 2.0), sample(121, 2.0), sample(122)], 100, LONGEST) == 21.0


def test_longest_time_is_that_of_the_kind_of_call() -> None:
    assert usual([sample(number, (number + 1) / 100) for number in range(101)]) == {"assets": pytest.approx(1.0)}
    assert usual([sample(1, 0.3)]) == {"assets": 0.3}
    assert recovered_after([sample(101, 0.5), sample(102)], 100, {"parties": 1.0}) is None


def test_medians_are_those_of_each_period_after_the_overload() -> None:
    samples = [sample(99.0, 9.0), sample(100.0, 0.1), sample(100.5, 0.3), sample(100.9, 0.2), sample(102.5, 0.4)]
    assert medians(samples, 100, 1.0, 3) == [200, 0, 400]


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
