"""A run of generated requests: edges of the schemas, random requests, and walks along the links."""

import asyncio
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from traceback import format_exception_only
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import seed as seeded
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import FlakyStrategyDefinition, Unsatisfiable
from schemathesis.config import InferenceAlgorithm
from schemathesis.core.failures import FailureGroup
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from backend.core.settings import settings
from tests.openapi.generated.firm import installed
from tests.openapi.generated.server import BriefStreams, serving
from tests.openapi.installation import CHECKS, Installation
from tests.openapi.operations import CASES, Case
from tests.openapi.sources import MODES, SCHEMA, answer_to, edges, headers_for, known_ids, led
from tests.openapi.walks import Walk, bounds
from tests.support.scratch import keep, scratch

EACH = 1_000
"""Cases after which another firm receives them: a request can end what the next one needs."""
WALKS, STEPS = 4, 50
"""Walks of a firm between two counts, and steps of each."""
SHOWN = 40
"""Failures that are printed."""


@dataclass
class Result:
    """Observations of a run."""

    seed: int
    cases: Counter[str] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)
    linked: Counter[int] = field(default_factory=Counter)
    succeeded: set[str] = field(default_factory=set)
    failures: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    log: Path | None = None

    def fail(self, text: str) -> None:
        """Count a failure; equal ones are one, which is printed when it comes first."""
        if text not in self.failures:
            say(f"failure: {text}")
        self.failures[text] = self.failures.get(text, 0) + 1


class Run:
    """The cases of one seed, sent to one server."""

    def __init__(self, seed: int, cases: int, http: httpx.AsyncClient) -> None:
        self.result = Result(seed)
        self._http, self._cases = http, cases
        self._patch = pytest.MonkeyPatch()
        self._sent = itertools.count()
        self._firm: Installation

    async def play(self) -> None:
        """Send everything."""
        operations = list(CASES)
        Random(self.result.seed).shuffle(operations)
        try:
            await self._found()
            steps = self._cases // 4
            await self._walk(steps)
            await self._operations(operations, self._cases - steps)
        finally:
            self._patch.undo()

    async def _found(self) -> None:
        self._firm = await installed(self._http)
        say(f"a firm with {', '.join(sorted(self._firm.ids))}")
        self._patch.setattr(REQUESTS_TRANSPORT, "send", self._firm.over)

    async def _walk(self, steps: int) -> None:
        """Walk along the links of the document, then along those that its schemas imply too."""
        before = 0
        for number in itertools.count():
            walk = Walk(self._firm)
            machine = walk.machine([] if number % 2 == 0 else list(InferenceAlgorithm))
            while walk.answers.total() < min(EACH, steps - before):
                machine.rule_order_seed = self.result.seed + before + walk.answers.total()
                with suppress(FlakyStrategyDefinition):  # the same choices lead elsewhere once the firm has changed
                    walking = seeded(machine.rule_order_seed)(machine).run
                    await asyncio.to_thread(walking, settings=bounds(WALKS, STEPS))
            for fault in walk.faults:
                self.result.fail(fault)
            before += walk.answers.total()
            self.result.answers += walk.answers
            self.result.linked += walk.linked
            self.result.cases["steps along links"] += walk.answers.total()
            await self._found()
            say(f"{before:6} of {steps} steps along links: {len(self.result.failures)} failures")
            if before >= steps:
                return

    async def _operations(self, operations: list[Case], cases: int) -> None:
        """Send the edges of each operation's schemas, and random requests for the rest of the cases."""
        since = sent = 0
        for number, case in enumerate(operations):
            share = (cases - sent) // (len(operations) - number)
            for kind, work in (("edges", self._edges), ("random", self._random)):
                headers, fixed = await headers_for(self._firm, case), known_ids(self._firm, case)
                count = await asyncio.to_thread(work, case, headers, fixed, share)
                self.result.cases[kind] += count
                share, sent, since = share - count, sent + count, since + count
            if since >= EACH:
                since = 0
                await self._found()
                say(f"{sent:6} of {cases} requests: {len(self.result.failures)} failures")

    def _edges(self, case: Case, headers: dict[str, str], fixed: dict[str, str], share: int) -> int:
        return self._judge(case, led(edges(case, share * 2 // 3), fixed), headers)

    def _random(self, case: Case, headers: dict[str, str], fixed: dict[str, str], share: int) -> int:
        count = 0
        for number, mode in enumerate(MODES):
            most = (share - count) // (len(MODES) - number)
            chosen: list[Any] = []
            strategy = SCHEMA[case.path][case.method.upper()].as_strategy(mode, path_parameters=fixed or None)
            with suppress(Unsatisfiable):  # nothing of it can be wrong
                draw(strategy, most, self.result.seed, chosen.append)
            count += self._judge(case, chosen, headers)
        return count

    def _judge(self, case: Case, generated: Iterable[Any], headers: dict[str, str]) -> int:
        count = 0
        for request in generated:
            count += 1
            try:
                status = answer_to(self._firm, request, headers)
            except (AssertionError, FailureGroup) as fault:
                self.result.fail(f"{case}: {''.join(format_exception_only(fault))}")
                continue
            except httpx.TransportError as fault:
                self.result.fail(f"{case}: no answer: {fault!r}")
                continue
            self.result.answers[status] += 1
            if status < httpx.codes.BAD_REQUEST:
                self.result.succeeded.add(str(case))
        return count


def draw(strategy: Any, most: int, seed: int, take: Callable[[Any], None]) -> None:
    """Draw up to so many requests."""
    if not most:
        return

    @seeded(seed)
    @hypothesis_settings(
        max_examples=most,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(generated=strategy)
    def run(generated: Any) -> None:
        take(generated)

    run()


async def play(cases: int, seed: int) -> Result:
    """Start a server, send everything, and stop the server."""
    began, folder = time.monotonic(), scratch("generated")
    say(f"seed {seed}, {cases} cases, {len(CASES)} operations, {len(CHECKS)} checks")
    async with serving(folder):
        say(f"a server after {time.monotonic() - began:.0f} s")
        async with httpx.AsyncClient(transport=BriefStreams(), base_url=settings().origin, timeout=60) as http:
            run = Run(seed, cases, http)
            await run.play()
    run.result.seconds = time.monotonic() - began
    if run.result.failures:
        run.result.log = keep(folder) / "server.log"
    return run.result


def report(result: Result) -> str:
    """Return the figures of a run."""
    cases = ", ".join(f"{count} {kind}" for kind, count in sorted(result.cases.items()))
    lines = [
        f"\nseed {result.seed}: {result.cases.total()} cases in {result.seconds:.0f} s, {len(result.failures)} failures"
    ]
    lines += [f"  cases: {cases}"]
    lines += [f"  answers: {_counted(result.answers)}", f"  along links: {_counted(result.linked)}"]
    lines += [f"  operations that succeeded outside walks: {len(result.succeeded)} of {len(CASES)}"]
    lines += [f"\n{count} times: {text}" for text, count in list(result.failures.items())[:SHOWN]]
    lines += [f"the server's log is {result.log}"] if result.log else []
    return "\n".join(lines) + "\n"


def _counted(answers: Counter[int]) -> str:
    return ", ".join(f"{status}: {count}" for status, count in sorted(answers.items()))


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()
