"""A chain of the fuzz test's own: one anvil that takes anybody's word, our contracts, and people of every kind."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from backend.chain.rule_sets import MarketRules, TokenRules
from backend.fields import MAX_UINT256, RegulationType

EID = 49_999
UNIT = 10**18
BEGINNING = 1_800_000_000
"""The time of the first block; every other comes a second after the one before, so that a scene can be played again."""
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
    command += ["--timestamp", str(BEGINNING)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        endpoints.announce({EID: f"http://127.0.0.1:{port}"})
        yield Rpc(EID)
    finally:
        endpoints.announce({})
        process.terminate()
        process.wait(10)


def _await(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
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

    async def attest(
        self, by: str, subject: str, level: int, country: str, accredited: bool, expires_at: int = 0
    ) -> None:
        """An attestation, where the registry takes it."""
        call = registry.attest(
            self.place.registry,
            subject=subject,
            level=level,
            country=country,
            accredited=accredited,
            expires_at=expires_at,
        )
        try:
            receipt = await self.send(address(by), call)
        except Reverted:
            return
        self.uids.append((address(by), receipt["logs"][0]["topics"][1]))

    def somebody(self, number: int) -> str:
        """One of everybody, counted round."""
        return self.everybody[number % len(self.everybody)]

    def venue(self, number: int) -> str:
        """One of the markets, counted round."""
        return list(self.markets)[number % len(self.markets)]


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


async def prepare(rpc: Rpc, people: int = 14) -> Ground:
    """Contracts deployed, issuers registered, people attested by some of them; the token has no rules yet."""
    await rpc.request("anvil_setBlockTimestampInterval", 1)
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
    for number, person in enumerate(ground.people[:-1]):
        await _attest_some(ground, number, person)
    return ground


async def _attest_some(ground: Ground, number: int, person: str) -> None:
    """One to three attestations, of every level and country, some without accreditation."""
    names = list(ATTESTERS)
    for turn in range(1 + number % 3):
        by = names[(number + 2 * turn) % len(names)]
        level, country = 1 + (number + turn) % ATTESTERS[by][1], COUNTRIES[(number + turn) % len(COUNTRIES)]
        await ground.attest(by, person, level, country, accredited=(number + turn) % 5 > 1)


async def open_markets(ground: Ground) -> None:
    """Rules that let everybody hold, tokens for most people, markets with rules of their own and orders, and some
    of it frozen."""
    at = await _create(ground.rpc, ground.agent, creation("MarketFactory", ground.agent, ground.agent, ground.quote))
    of, now = ground.place.token, await ground.now()
    await ground.send(ground.owner, token.set_rules(of, TokenRules(trusted_issuers=(address("foreign"),))))
    for rules in _market_rules(now):
        call = factory.create_market(at, token=of, fee_collector=ground.owner, taker_bps=30, maker_bps=0, rules=rules)
        created = str(await ground.rpc.simulate(call, ground.owner))[-40:]
        await ground.send(ground.owner, call)
        venue = str(to_checksum_address(f"0x{created}"))
        await ground.send(ground.owner, token.set_venue(of, venue))
        ground.markets[venue] = rules
    for number, person in enumerate([ground.owner, *ground.people[:9]]):
        await ground.send(ground.owner, token.mint(of, person, (1 + 7 * number) * UNIT))
        venue = ground.venue(number)
        if number % 3 == 1:
            await ground.send(person, token.approve(of, venue, UNIT))
            await ground.attempt(person, resting_sale(venue, 10**9, UNIT))
    for number, amount in ((1, UNIT), (2, 3 * UNIT), (5, MAX_UINT256)):
        await ground.send(ground.owner, token.set_frozen(of, ground.people[number], amount))


def _market_rules(now: int) -> tuple[MarketRules, ...]:
    """Open; closed to sellers, with few holders; with blocked countries and levels; with everything else."""
    return (
        MarketRules(),
        MarketRules(lockup_end_time=now + 10**9, max_holders=5),
        MarketRules(min_kyc_level=2, blocked_countries=("DEU", "PRK")),
        MarketRules(
            regulation_type=RegulationType.REG_D,
            min_kyc_level=1,
            requires_accreditation=True,
            lockup_end_time=now + 4_000,
            max_tokens_per_holder=40 * UNIT,
        ),
    )


def resting_sale(at: str, price: int, amount: int) -> Call:
    """A sell order that nobody fills."""
    return market.place(at, side="sell", price=price, amount=amount)
