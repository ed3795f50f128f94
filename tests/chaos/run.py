"""Runs of chaos on one installation: in each, requests meet faults, and everything is compared afterwards."""

import asyncio
import re
import secrets
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from backend.client import SignumClient
from tests.chaos import faults
from tests.chaos.comparison import compare, rest
from tests.chaos.installation import Installation
from tests.chaos.issuers import Issuer, Receiver
from tests.support.firm import BASE, SEPOLIA
from tests.support.scratch import scratch
from tests.support.server import free_port
from tests.support.tenants import tenant_of

CHAINS = (SEPOLIA, BASE)
"""One whose work the server does, and one whose work the workers do."""
_REQUEST = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EACH = 2
"""Stories on each chain in a run."""


@dataclass
class Result:
    """What one run found."""

    seed: int
    faults: list[faults.Fault]
    findings: list[str]
    requests: int
    seconds: float


@dataclass
class Chaos:
    """Runs with consecutive seeds."""

    seed: int
    runs: int
    is_short: bool = False
    results: list[Result] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    _interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by Ctrl-C: the current run is the last one."""

    async def play(self) -> bool:
        """Play all runs; return whether nothing differs."""
        self.installation = Installation(folder := scratch("chaos"))
        self.receiver = Receiver(free_port())
        hooks = await self.receiver.serve()
        say(f"parts: {', '.join(self.installation.parts())}; logs in {folder}")
        try:
            await self.installation.start()
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted.set)
            for number in range(self.runs):
                if self._interrupted.is_set():
                    break
                self.results.append(await self._run(self.seed + number))
                self._tell(self.results[-1])
            await self._commands()
        finally:
            hooks.close()
            await self.installation.stop()
        return not self.commands and not any(result.findings for result in self.results)

    async def _run(self, seed: int) -> Result:
        await self.installation.ready(300)
        issuer = await self._issuer(seed)
        parts, fills = self.installation.parts(), self.installation.has_own_disk
        chosen = faults.chosen(seed, parts, fills=fills, is_short=self.is_short)
        began = time.monotonic()
        stories = [asyncio.create_task(issuer.story(eid)) for eid in CHAINS for _ in range(EACH)]
        await faults.happen(self.installation, chosen)
        ends = await asyncio.gather(*stories, return_exceptions=True)
        findings = [str(end) or type(end).__name__ for end in ends if isinstance(end, BaseException)]
        await self.installation.ready(300)
        findings += [f"not at rest: {line}" for line in await rest(self.installation)]
        findings += await compare(self.installation, issuer, self.receiver)
        return Result(seed, chosen, findings, len(issuer.accepted), time.monotonic() - began)

    async def _issuer(self, seed: int) -> Issuer:
        client = SignumClient(self.installation.url)
        issuer = Issuer.of(await tenant_of(self.installation.database, client), client, f"{seed}:issuer")
        await issuer.found(*CHAINS, hook=f"http://127.0.0.1:{self.receiver.port}/")
        return issuer

    async def _commands(self) -> None:
        """Verify the audit log of all organizations, and compare all tables with the chains."""
        for command, wanted in ((("audit", "verify"), "intact"), (("reconcile",), "0 differences")):
            code, output = await self.installation.command(*command)
            say(f"signum {' '.join(command)}: {output.strip().splitlines()[-1] if output.strip() else code}")
            if code != 0 or wanted not in output:
                self.commands.append(output)

    def _tell(self, result: Result) -> None:
        what = "; ".join(map(str, result.faults))
        say(f"seed {result.seed}: {result.requests} requests in {result.seconds:.0f} s. {what}")
        for line in result.findings:
            say(f"  {line}")
        for identifier in sorted({found for line in result.findings for found in _REQUEST.findall(line)}):
            for line in self.installation.log_about(identifier):
                say(f"    {line}")

    def report(self) -> None:
        """Print the figures of all runs."""
        kinds = Counter(f"{fault.kind} {fault.part}" for result in self.results for fault in result.faults)
        seconds = sorted(result.seconds for result in self.results)
        bad = [result.seed for result in self.results if result.findings]
        say(f"\n{len(self.results)} runs, seeds {self.seed} to {self.seed + len(self.results) - 1}")
        say(
            f"  faults: {sum(kinds.values())} ({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))})"
        )
        say(f"  processes started by the service manager: {self.installation.starts}")
        say(
            f"  requests accepted and succeeded exactly once: {sum(r.requests for r in self.results if not r.findings)}"
        )
        say(f"  webhook events: {len(self.receiver.seen)}, delivered {sum(self.receiver.seen.values())} times")
        if seconds:
            say(f"  seconds until all was done: median {seconds[len(seconds) // 2]:.0f}, at most {seconds[-1]:.0f}")
        say(f"  runs with findings: {bad or 'none'}")


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def new_seed() -> int:
    """Return a random seed."""
    return secrets.randbelow(10**6)
