"""A run of the stories: a database, a network, a server that is killed, and a comparison at the end."""

import asyncio
import itertools
import secrets
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from backend.client import SignumClient
from backend.core.connections import database
from backend.core.settings import settings
from backend.migrations.migrate import migrate
from backend.server.postgres import EmbeddedPostgres
from tests.conftest import World
from tests.nodes.stories.comparison import Findings, Tables, compare
from tests.nodes.stories.houses import House
from tests.nodes.stories.network import FINAL, Network
from tests.nodes.stories.plots import PLOTS, Outcome, Plot, play
from tests.nodes.stories.server import Server
from tests.support.scratch import scratch
from tests.support.server import free_port

REST = 120.0
"""Seconds for all work to finish after the last story."""


@dataclass
class Result:
    """Observations of a run."""

    seed: int
    stories: list[Outcome]
    findings: Findings
    ends: Counter[str] = field(default_factory=Counter)
    reorgs: int = 0
    retried: int = 0
    blocks: int = 0
    asked: int = 0
    unsettled: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether chain, tables and requests agree and all work has finished."""
        return self.findings.is_empty and not self.unsettled


class Run:
    """One run."""

    def __init__(self, seed: int, stories: int, houses: int, *, hostile: bool = True) -> None:
        self.seed, self._count, self._hostile = seed, stories, hostile
        self._dice = Random(f"{seed}:run")
        self._house_count = houses
        self.folder = scratch("nodes")
        self._network = Network(seed, self.folder / "network.log")
        self._postgres = EmbeddedPostgres(self.folder / "pg")
        self._url = self._postgres.start()
        self._ends: Counter[str] = Counter()
        self._server: Server

    async def play(self) -> Result:
        """Prepare, play the stories, and compare."""
        began = time.monotonic()
        migrate(self._url)
        await self._network.start()
        more = {"DATABASE_URL": self._url, "SIGNUM_PUBLIC_URL": settings().origin, "SIGNUM_DEMO": "0"}
        more |= self._network.settings()
        self._server = Server(self.folder, free_port(), more)
        try:
            await self._server.start()
            houses = await self._houses()
            say(f"{len(houses)} issuers after {time.monotonic() - began:.0f} s")
            stories = await self._play(houses)
            unsettled = await self._rest()
            findings = await compare(self._network, Tables(self._url), stories)
            blocks, asked = await self._network.height(), self._network.asked
        finally:
            await self._server.end(signal.SIGKILL)
            await self._network.stop()
            self._postgres.stop()
        retried = sum(house.retried for house in houses)
        result = Result(self.seed, stories, findings, self._ends, self._network.reorgs, retried)
        result.unsettled, result.blocks, result.asked = unsettled, blocks, asked
        result.seconds = time.monotonic() - began
        return result

    async def _houses(self) -> list[House]:
        await self._fund_operator()
        database.start(self._url)
        client = SignumClient(self._server.url)
        world, houses = World(client), []
        for _ in range(self._house_count):
            id_ = await world.organization("Acme")
            admin = await world.person(id_)
            key = await world.key(id_, created_by=admin.user_id)
            houses.append(House(id_, key, admin.cookie, client, self._network))
        await database.stop()
        await asyncio.gather(*(house.found() for house in houses))
        await self._network.buried(FINAL + 1)  # the preparations are below every reorg
        return houses

    async def _fund_operator(self) -> None:
        """Fund the wallet that deploys the product's contracts; a chain's missing prerequisites name it."""
        tables = Tables(self._url)
        async with asyncio.timeout(120):
            while len(tables.rows("select 1 from chain_contracts where name = 'market_factory'")) < 2:
                missing = " ".join(
                    row["missing"] for row in tables.rows("select missing from chains") if row["missing"]
                )
                for address in {word for word in missing.split() if len(word) == 42 and word.startswith("0x")}:
                    for chain in self._network.chains.values():
                        await chain.pool.fund(address, 10**24)
                await asyncio.sleep(0.3)

    async def _play(self, houses: Sequence[House]) -> list[Outcome]:
        plots = list(itertools.islice(itertools.cycle(PLOTS), self._count))
        self._dice.shuffle(plots)
        answer: list[Outcome] = []
        killing = asyncio.create_task(self._kill()) if self._hostile else None
        if self._hostile:
            self._network.rage()
        left = iter(plots)
        workers = [self._work(house, left, answer) for house in houses for _ in range(2)]
        await asyncio.gather(*workers)
        if killing is not None:
            killing.cancel()
            with suppress(asyncio.CancelledError):
                await killing
        return answer

    async def _work(self, house: House, left: "itertools.chain[Plot] | object", answer: list[Outcome]) -> None:
        for plot in left:  # type: ignore[attr-defined]
            story = await play(plot, house)
            answer.append(story)
            say(f"{len(answer):4} {story.kind}{': ' + story.problem if story.problem else ''}")

    async def _kill(self) -> None:
        """Stop the server repeatedly, each time after a few transactions: kill it, or ask it to stop, which cancels
        waiting work. It has worked for twice the time that it took to start, because on a busy machine it would
        otherwise do nothing but start and send transactions again."""
        works_from = time.monotonic()
        while True:
            until = self._network.sent + self._dice.randint(1, 25)
            while self._network.sent < until or time.monotonic() < works_from:  # noqa: ASYNC110 - the server sends them
                await asyncio.sleep(0.005)
            number = self._dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            await self._server.end(number)
            self._ends[number.name] += 1
            self._network.change_providers()
            began = time.monotonic()
            await self._server.start()
            works_from = time.monotonic() + 2 * (time.monotonic() - began)

    async def _rest(self) -> list[str]:
        """Wait, on healthy nodes, until nothing is open and the tables have all final blocks; return what is still
        open."""
        self._network.calm()
        if not self._server.is_running:
            await self._server.start()
        tables, deadline = Tables(self._url), time.monotonic() + REST
        heads = {eid: await chain.node.height() for eid, chain in self._network.chains.items()}
        while True:
            open_ = tables.unsettled()
            open_ += [f"{eid} is read up to {c} of {h}" for eid, h in heads.items() if (c := tables.cursor(eid)) < h]
            if not open_ or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.3)
        await self._server.end(signal.SIGTERM)
        for chain in self._network.chains.values():
            chain.pool.stop_mining()
        return open_


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(result: Result) -> None:
    """Print the figures of a run."""
    ends = ", ".join(f"{count} {name}" for name, count in sorted(result.ends.items())) or "none"
    compared = ", ".join(f"{count} {name}" for name, count in sorted(result.findings.compared.items()))
    say(f"\nseed {result.seed}: {len(result.stories)} stories in {result.seconds:.0f} s")
    say(f"  server ended: {ends}; reorgs: {result.reorgs}; requests tried again: {result.retried}")
    say(f"  blocks: {result.blocks}; requests to nodes: {result.asked}")
    say(f"  compared: {compared}")
    for name, lines in result.findings.lines:
        say(f"  {name}: {len(lines)}")
        for line in lines[:20]:
            say(f"    {line}")
    say(f"  not at rest: {len(result.unsettled)}")
    for line in result.unsettled[:20]:
        say(f"    {line}")


def new_seed() -> int:
    """Return a random seed."""
    return secrets.randbelow(10**9)
