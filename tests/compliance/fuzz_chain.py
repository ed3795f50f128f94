"""The chain of the fuzz test: one anvil that accepts any sender, Signum's contracts, and all kinds of people."""

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

from backend.assets.transfer_check import Place
from backend.chain.abi.calls import Call, creation
from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.bindings import factory, market, registry, token
from backend.chain.devnet.install import binary
from backend.chain.errors import Reverted, RpcError
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.core.fields import MAX_UINT256, RegulationType

EID = 49_999
UNIT = 10**18
BEGINNING = 1_800_000_000
"""The time of the first block; each next block is a second later, so that a scene can be played again."""
COUNTRIES = ("USA", "DEU", "PRK", "SWE")
OURS, ABOVE, TOP, FOREIGN = (UUID(int=n) for n in (1, 2, 3, 4))
LINEAGE = ((TOP, None), (ABOVE, TOP), (OURS, ABOVE))
ATTESTERS = {"own": (OURS, 3), "second": (OURS, 2), "parent": (ABOVE, 3), "root": (TOP, 4), "foreign": (FOREIGN, 3)}
"""The attesters' organizations, and the maximum level they attest."""


def address(name: str) -> str:
    """An address without a known key."""
    return str(to_checksum_address(keccak(text=name)[:20]))


@contextmanager
def anvil(home: Path) -> Iterator[Rpc]:
    """A separate node, stopped with its context. Any sender is accepted, and gas costs nothing."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(binary(home)), "--port", str(port), "--accounts", "0", "--hardfork", "cancun", "--silent"]
    command += ["--auto-impersonate", "--base-fee", "0", "--gas-price", "0", "--no-cors", "--threads", "1"]
    command += ["--timestamp", str(BEGINNING)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        node_urls.announce({EID: f"http://127.0.0.1:{port}"})
        yield Rpc(EID)
    finally:
        node_urls.announce({})
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
    """The contracts and the accounts."""

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
    def addresses(self) -> list[str]:
        """Every address that a case can name."""
        fixed = [self.owner, self.place.token, address("stranger"), "0x" + "0" * 40]
        return [*self.people, *self.markets, *fixed]

    async def send(self, sender: str, call: Call) -> Any:
        """Send as any account and return the receipt. Raise Reverted."""
        return await send(self.rpc, sender, call)

    async def attempt(self, sender: str, call: Call) -> bool:
        """Send a call that can be refused; return whether it succeeded."""
        try:
            await send(self.rpc, sender, call)
        except (Reverted, RpcError):
            return False
        return True

    async def now(self) -> int:
        """Return the newest block's time."""
        return int((await self.rpc.request("eth_getBlockByNumber", "latest", False))["timestamp"], 16)

    async def travel(self, moment: int) -> int:
        """Mine a block at a time, or one second later if that has passed; return its time."""
        moment = max(moment, await self.now() + 1)
        await self.rpc.request("evm_setNextBlockTimestamp", moment)
        await self.rpc.request("evm_mine")
        return await self.now()

    async def attest(
        self, by: str, subject: str, level: int, country: str, accredited: bool, expires_at: int = 0
    ) -> None:
        """Add an attestation if the registry accepts it."""
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

    def account(self, number: int) -> str:
        """Return one of all accounts, by number modulo their count."""
        return self.addresses[number % len(self.addresses)]

    def venue(self, number: int) -> str:
        """Return one of the markets, by number modulo their count."""
        return list(self.markets)[number % len(self.markets)]


async def send(rpc: Rpc, sender: str, call: Call) -> Any:
    """Send as any account and wait for the receipt."""
    body = {"from": sender, "data": call.data, "value": hex(call.value), "gas": hex(25_000_000), "gasPrice": "0x0"}
    if call.to is not None:
        body["to"] = call.to
    await rpc.request("eth_call", body, "latest")
    sent = await rpc.request("eth_sendTransaction", body)
    while (receipt := await rpc.request("eth_getTransactionReceipt", sent)) is None:
        continue  # the node responds a moment before it has mined
    if int(receipt["status"], 16) != 1:
        raise Reverted("refused when it was mined", name="Unknown")
    return receipt


async def _create(rpc: Rpc, sender: str, call: Call) -> str:
    return str(to_checksum_address((await send(rpc, sender, call))["contractAddress"]))


async def prepare(rpc: Rpc, people: int = 14) -> Ground:
    """Deployed contracts, registered issuers, people attested by some of them; the token has no rules yet."""
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
    """Give one to three attestations each, of every level and country, some without accreditation."""
    names = list(ATTESTERS)
    for turn in range(1 + number % 3):
        by = names[(number + 2 * turn) % len(names)]
        level, country = 1 + (number + turn) % ATTESTERS[by][1], COUNTRIES[(number + turn) % len(COUNTRIES)]
        await ground.attest(by, person, level, country, accredited=(number + turn) % 5 > 1)


async def open_markets(ground: Ground) -> None:
    """Set rules that let everyone hold; give tokens to most people; create markets with their own rules and orders;
    freeze some of it."""
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
    """Markets: open; closed to sellers, with few holders; with blocked countries and levels; with everything else."""
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
    """A sell order that no one fills."""
    return market.place(at, side="sell", price=price, amount=amount)
