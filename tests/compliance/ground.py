"""A chain of the fuzz test's own: one anvil that takes anybody's word, our contracts, and people of every kind."""

import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from backend.assets.checking import Place
from backend.chain import endpoints, factory, market, registry, token
from backend.chain.calls import Call, creation
from backend.chain.errors import Reverted, RpcError
from backend.chain.install import binary
from backend.chain.rpc import Rpc
from backend.chain.rule_sets import MarketRules
from backend.fields import RegulationType

EID = 49_999
UNIT = 10**18
COUNTRIES = ("USA", "DEU", "PRK", "SWE")
OURS, ABOVE, TOP, FOREIGN = (UUID(int=n) for n in (1, 2, 3, 4))
LINEAGE = ((TOP, None), (ABOVE, TOP), (OURS, ABOVE))
ATTESTERS = {"own": (OURS, 3), "second": (OURS, 2), "parent": (ABOVE, 3), "root": (TOP, 4), "foreign": (FOREIGN, 3)}
"""Whose they are, and the level they may attest up to."""


def address(name: str) -> str:
    """An address that nobody has a key for."""
    return str(to_checksum_address(keccak(text=name)[:20]))


@contextmanager
def anvil(home: Path) -> Iterator[Rpc]:
    """A node of our own, ended with the block. Anybody may send as anybody, and gas costs nothing."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(binary(home)), "--port", str(port), "--accounts", "0", "--hardfork", "cancun", "--silent"]
    command += ["--auto-impersonate", "--base-fee", "0", "--gas-price", "0", "--no-cors", "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        endpoints.announce({EID: f"http://127.0.0.1:{port}"})
        yield Rpc(EID)
    finally:
        endpoints.announce({})
        process.terminate()
        process.wait(10)


def _await(port: int, process: subprocess.Popen[bytes], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise RuntimeError("anvil does not start")


@dataclass
class Ground:
    """The contracts, and who there is."""

    rpc: Rpc
    place: Place
    owner: str
    agent: str
    quote: str
    markets: dict[str, MarketRules] = field(default_factory=dict)
    people: list[str] = field(default_factory=list)
    uids: list[tuple[str, str]] = field(default_factory=list)
    """Attestations so far: attester and uid."""

    @property
    def everybody(self) -> list[str]:
        """Every address a case may name."""
        fixed = [self.owner, self.place.token, address("stranger"), "0x" + "0" * 40]
        return [*self.people, *self.markets, *fixed]

    async def send(self, sender: str, call: Call) -> Any:
        """Send as anybody; the receipt. Raises Reverted."""
        return await send(self.rpc, sender, call)

    async def attempt(self, sender: str, call: Call) -> bool:
        """Send what may be refused; whether it was not."""
        try:
            await send(self.rpc, sender, call)
        except (Reverted, RpcError):
            return False
        return True

    async def now(self) -> int:
        """The newest block's time."""
        return int((await self.rpc.request("eth_getBlockByNumber", "latest", False))["timestamp"], 16)

    async def travel(self, moment: int) -> int:
        """Mine a block at a time, or one second on where that is past; the time."""
        moment = max(moment, await self.now() + 1)
        await self.rpc.request("evm_setNextBlockTimestamp", moment)
        await self.rpc.request("evm_mine")
        return await self.now()

    async def attest(self, rng: random.Random, who: str, subject: str) -> None:
        """Some attestation of a subject, which may end soon."""
        call = registry.attest(
            self.place.registry,
            subject=subject,
            level=rng.randint(1, ATTESTERS[who][1]),
            country=rng.choice(COUNTRIES),
            accredited=rng.random() < 0.6,
            expires_at=rng.choice([0, 0, 0, await self.now() + rng.randint(2, 5_000)]),
        )
        try:
            receipt = await self.send(address(who), call)
        except Reverted:
            return
        self.uids.append((address(who), receipt["logs"][0]["topics"][1]))


async def send(rpc: Rpc, sender: str, call: Call) -> Any:
    """Send as anybody and wait for the receipt."""
    body = {"from": sender, "data": call.data, "value": hex(call.value), "gas": hex(25_000_000), "gasPrice": "0x0"}
    if call.to is not None:
        body["to"] = call.to
    await rpc.request("eth_call", body, "latest")
    sent = await rpc.request("eth_sendTransaction", body)
    while (receipt := await rpc.request("eth_getTransactionReceipt", sent)) is None:
        continue  # the node answers a moment before it has mined
    if int(receipt["status"], 16) != 1:
        raise Reverted("refused when it was mined", name="Unknown")
    return receipt


async def _create(rpc: Rpc, sender: str, call: Call) -> str:
    return str(to_checksum_address((await send(rpc, sender, call))["contractAddress"]))


async def prepare(rpc: Rpc, rng: random.Random, people: int = 14) -> Ground:
    """Contracts deployed, issuers registered, people attested by some of them; the token has no rules yet."""
    agent, owner = address("agent"), address("treasury")
    endpoint = await _create(rpc, agent, creation("LocalEndpoint", EID, agent))
    at = await _create(rpc, agent, creation("AttestationRegistry", agent))
    quote = await _create(rpc, agent, creation("TestUSD", agent))
    made = token.deploy(
        name="Fuzz", symbol="FUZZ", decimals=18, organization_id=OURS, registry=at, endpoint=endpoint, owner=owner,
        treasury=owner,
    )  # fmt: skip
    ground = Ground(rpc, Place(OURS, EID, await _create(rpc, owner, made), at), owner, agent, quote)
    for child, parent in LINEAGE:
        await ground.send(agent, registry.set_parent(at, child, parent))
    for name, (organization, level) in ATTESTERS.items():
        await ground.send(agent, registry.add_attester(at, address(name), organization, name, level, True))
    ground.people = [address(f"person {n}") for n in range(people)]
    for person in ground.people[:-1]:
        for who in rng.sample(sorted(ATTESTERS), rng.randint(1, 3)):
            await ground.attest(rng, who, person)
    return ground


async def open_markets(ground: Ground, rng: random.Random) -> None:
    """Markets with rules of their own, that may take deposits. The token has to have rules."""
    at = await _create(ground.rpc, ground.agent, creation("MarketFactory", ground.agent, ground.agent, ground.quote))
    some = [some_market_rules(rng, await ground.now()) for _ in range(3)]
    closed = replace(some[0], lockup_end_time=await ground.now() + 10**9, max_holders=rng.randint(2, 6))
    blocked = replace(some[1], blocked_countries=tuple(sorted(rng.sample(COUNTRIES, 2))))
    for rules in (MarketRules(), closed, blocked, some[2]):
        call = factory.create_market(
            at, token=ground.place.token, fee_collector=ground.owner, taker_bps=30, maker_bps=0, rules=rules
        )
        created = str(await ground.rpc.simulate(call, ground.owner))[-40:]
        await ground.send(ground.owner, call)
        venue = str(to_checksum_address(f"0x{created}"))
        await ground.send(ground.owner, token.set_venue(ground.place.token, venue))
        ground.markets[venue] = rules


def some_market_rules(rng: random.Random, now: int) -> MarketRules:
    """Any rules of a market; every other time lenient ones, so that much is allowed too."""
    strict = rng.random() < 0.5
    return MarketRules(
        regulation_type=rng.choice(list(RegulationType)),
        min_kyc_level=rng.choice([1, 2, 3, 4]) if strict else rng.choice([0, 1]),
        requires_accreditation=rng.random() < (0.5 if strict else 0.1),
        blocked_countries=tuple(sorted(rng.sample(COUNTRIES, rng.choice([0, 1, 2]) if strict else 0))),
        lockup_end_time=now + rng.randint(1, 200_000) if rng.random() < (0.5 if strict else 0.2) else 0,
        max_holders=rng.randint(1, 16) if rng.random() < (0.6 if strict else 0.2) else 0,
        max_tokens_per_holder=rng.randint(1, 100) * UNIT if rng.random() < (0.6 if strict else 0.2) else 0,
    )


def resting_sale(at: str, price: int, amount: int) -> Call:
    """A sell order that nobody fills."""
    return market.place(at, side="sell", price=price, amount=amount)
