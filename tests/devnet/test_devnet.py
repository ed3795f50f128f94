"""The devnet on a separate installation: moving its time affects nothing else, and its faults are real."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio

from backend.assets.schemas import AssetCreate
from backend.bridges.schemas import BridgeCreate
from backend.client import ApiProblem, SignumClient
from backend.compliance.schemas import ComplianceRules, TransferCheck
from backend.controls.schemas import Mint
from backend.core.settings import Settings
from backend.devnet.schemas import ClockMove, DevnetChain, FaultBegin, FaultKind
from backend.requests.schemas import RequestStatus
from backend.users.schemas import Role
from backend.wallets.schemas import WalletCreate
from tests.conftest import World
from tests.server.test_serve import CHECKOUT, Serve

pytestmark = pytest.mark.long

SEPOLIA, HYPEREVM, BASE = 40161, 40362, 40245
EMAIL, PASSWORD = "root@northwind.example", "correct horse battery"
HOUR = 3_600


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """`signum serve` with one organization and its admin."""
    serve = Serve(tmp_path_factory.mktemp("devnet") / "data", SIGNUM_RATE_LIMITS="off")
    serve.ready()
    bootstrap(serve)
    yield serve
    if serve.process.poll() is None:
        serve.process.terminate()
        serve.process.communicate(timeout=60)


def bootstrap(serve: Serve) -> None:
    names = ["--organization", "Northwind", "--email", EMAIL, "--name", "Root", "--password", PASSWORD]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")}
    subprocess.run(
        [sys.executable, "-m", "backend.cli", "bootstrap", *names],
        cwd=CHECKOUT,
        env=kept | {"SIGNUM_HOME": str(serve.home), "PORT": str(serve.port)},
        check=True,
        timeout=60,
        capture_output=True,
    )


class Business:
    """The organization with a treasury on every chain, and its calls."""

    def __init__(self, client: SignumClient, org: UUID) -> None:
        self.client, self.org = client, org

    async def asset(self, symbol: str, **more: Any) -> UUID:
        """A token on Sepolia, whose request has succeeded."""
        body = AssetCreate(name=symbol, symbol=symbol, chain_eid=SEPOLIA, **more)
        accepted = await self.client.create_asset(self.org, body)
        await self.client.wait_for(accepted.request_id)
        return accepted.assetId

    async def mint(self, asset: UUID, amount: str = "5") -> str:
        """Start a mint to the treasury and return the request."""
        [wallet] = (await self.client.list_wallets(self.org)).wallets
        body = Mint(chain_eid=SEPOLIA, to_address=wallet.address, amount=amount)
        return (await self.client.mint(self.org, asset, body)).request_id

    async def supply(self, asset: UUID) -> str:
        """Return the supply on chain."""
        [there] = [d for d in (await self.client.get_asset(self.org, asset)).deployments if d.chain_eid == SEPOLIA]
        return str(there.supply)

    async def fault(self, kind: FaultKind, eid: int = SEPOLIA, **more: Any) -> DevnetChain:
        """Start or end a fault; return the chain's state."""
        state = await self.client.begin_fault(FaultBegin(chain_eid=eid, kind=kind, **more))
        return next(c for c in state.chains if c.chain_eid == eid)

    async def until(self, holds: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
        """Wait until a condition is true."""
        async with asyncio.timeout(seconds):
            while not await holds():  # noqa: ASYNC110 - another process decides
                await asyncio.sleep(0.1)


@asynccontextmanager
async def at_work(installation: Serve) -> AsyncIterator[Business]:
    """The organization, with everything it needs on every chain."""
    async with SignumClient(f"http://127.0.0.1:{installation.port}") as client:
        org = (await client.sign_in(EMAIL, PASSWORD)).organizations[0].id
        for chain in (await client.list_organization_chains(org)).chains:
            if chain.environment == "devnet" and not chain.enabled:
                await client.enable_chain(org, chain.id)
        if not (await client.list_wallets(org)).wallets:
            await client.create_wallet(org, WalletCreate(label="Treasury"))
        yield Business(client, org)


@pytest_asyncio.fixture
async def business(installation: Serve) -> AsyncIterator[Business]:
    async with at_work(installation) as business:
        yield business
        for eid in (SEPOLIA, HYPEREVM, BASE):
            await business.fault(FaultKind.NONE, eid)


async def test_mint_on_a_slow_chain_succeeds(business: Business) -> None:
    asset = await business.asset("SLOW", initial_supply="10")
    chain = await business.fault(FaultKind.SLOW, size=2)
    assert chain.fault
    assert (chain.fault.kind, chain.fault.size) == ("slow", 2)
    began = time.monotonic()
    await business.client.wait_for(await business.mint(asset))
    assert time.monotonic() - began > 0.5
    assert await business.supply(asset) == "15"
    assert (await business.fault(FaultKind.NONE)).fault is None
    await business.client.wait_for(await business.mint(asset))
    assert await business.supply(asset) == "20"


async def test_chain_fault_is_shown_and_failed_work_is_retried(business: Business) -> None:
    client = business.client
    asset = await business.asset("DOWN", initial_supply="10")

    async def shown_as(*words: str) -> bool:
        found = (await client.list_chains()).chains
        return next(c for c in found if c.xchain_eid == SEPOLIA).status in words

    chain = await business.fault(FaultKind.DOWN)
    assert (chain.block_number, chain.time) == (None, None)
    await business.until(lambda: shown_as("degraded", "down"))
    with pytest.raises(ApiProblem) as failed:
        await client.wait_for(await business.mint(asset))
    assert failed.value.status == 503
    with pytest.raises(ApiProblem) as response:
        await client.move_clock(ClockMove(seconds=1))
    assert response.value.status == 409
    assert (await business.fault(FaultKind.NONE)).block_number is not None
    await business.until(lambda: shown_as("active"))
    async for request in client.list_requests(business.org, status=RequestStatus.FAILED):
        assert request.can_retry
        await client.retry_request(business.org, request.id)
        await client.wait_for(request.id)
    if await business.supply(asset) == "10":  # it was refused before it was accepted
        await client.wait_for(await business.mint(asset))
    assert await business.supply(asset) == "15"


async def test_dropped_transactions_are_sent_again(business: Business) -> None:
    asset = await business.asset("DROP", initial_supply="10")
    await business.fault(FaultKind.DROP_TRANSACTIONS, size=3)
    await business.client.wait_for(await business.mint(asset))
    assert await business.supply(asset) == "15"
    chains = (await business.client.get_devnet()).chains
    assert next(c for c in chains if c.chain_eid == SEPOLIA).fault is None, "it has dropped the transactions"


async def test_reorg_loses_no_transactions(business: Business) -> None:
    asset = await business.asset("REORG", initial_supply="10")
    await business.client.wait_for(await business.mint(asset))
    await business.fault(FaultKind.REORG, size=2)

    async def is_back() -> bool:
        holders = (await business.client.list_holders(business.org, asset)).holders
        return await business.supply(asset) == "15" and [h.balance for h in holders] == ["15"]

    await business.until(is_back)


async def test_refused_packets_fail_the_bridge_until_they_are_accepted(business: Business) -> None:
    client = business.client
    asset = await business.asset("PACK", initial_supply="10")
    await business.fault(FaultKind.REFUSE_PACKETS, BASE)
    accepted = await client.bridge_asset(
        business.org, asset, BridgeCreate(source_chain_eid=SEPOLIA, destination_chain_eid=BASE)
    )
    with pytest.raises(ApiProblem, match="refuses packets"):
        await client.wait_for(accepted.request_id)
    bridge = await client.get_bridge(business.org, accepted.bridgeId)
    assert bridge.status == "failed"
    assert "refuses packets" in str(bridge.failure)
    await business.fault(FaultKind.NONE, BASE)
    await client.retry_request(business.org, accepted.request_id)
    assert (await client.wait_for(accepted.request_id)).status is RequestStatus.SUCCEEDED
    assert (await client.get_bridge(business.org, accepted.bridgeId)).status == "confirmed"


async def test_chain_fault_expires(business: Business) -> None:
    await business.fault(FaultKind.DOWN, HYPEREVM, seconds=1)

    async def is_well() -> bool:
        state = await business.client.get_devnet()
        chain = next(c for c in state.chains if c.chain_eid == HYPEREVM)
        return chain.fault is None and chain.block_number is not None

    await business.until(is_well)


async def test_clock_change_applies_to_every_chain_and_api_decision(business: Business) -> None:
    ends = int(time.time()) + HOUR
    asset = await business.asset("LOCK", initial_supply="10", compliance_rules=ComplianceRules(lockup_end_time=ends))
    # Between holders: the lock-up does not bind the treasury itself.
    check = TransferCheck(chain_eid=SEPOLIA, from_address="0x" + "34" * 20, to_address="0x" + "12" * 20, amount="1")

    async def is_locked() -> bool:
        verdict = await business.client.check_transfer(business.org, asset, check)
        assert verdict.chain_agrees
        return any("lockup" in rule.rule and not rule.passed for rule in verdict.rules)

    assert await is_locked()
    before = await business.client.get_devnet()
    after = await business.client.move_clock(ClockMove(seconds=2 * HOUR))
    assert after.clock_offset_seconds == before.clock_offset_seconds + 2 * HOUR
    for one, then in zip(before.chains, after.chains, strict=True):
        assert one.time
        assert then.time
        assert (then.time - one.time).total_seconds() >= 2 * HOUR - 60
    assert not await is_locked()
    await business.fault(FaultKind.DOWN)
    await business.fault(FaultKind.NONE)
    assert not await is_locked(), "a restarted node uses the moved clock"
    await business.client.wait_for(await business.mint(asset))


@pytest.mark.parametrize(
    "body",
    [
        {"chain_eid": 30101, "kind": "down"},
        {"chain_eid": SEPOLIA, "kind": "explode"},
        {"chain_eid": SEPOLIA, "kind": "down", "seconds": 0},
        {"chain_eid": SEPOLIA, "kind": "reorg", "size": 31},
        {"chain_eid": SEPOLIA},
    ],
)
async def test_invalid_fault_changes_nothing(business: Business, installation: Serve, body: dict[str, Any]) -> None:
    headers = business.client._credentials()
    answer = await asyncio.to_thread(
        httpx.post,
        f"http://127.0.0.1:{installation.port}/v1/devnet/faults",
        json=body,
        headers=headers,
        trust_env=False,
    )
    assert answer.status_code in (400, 422)
    assert all(chain.fault is None for chain in (await business.client.get_devnet()).chains)


@pytest.mark.parametrize("seconds", [0, -1, 10 * 31_536_000 + 1, 1.5])
async def test_invalid_clock_change_is_rejected(world: World, seconds: float) -> None:
    admin = await world.person(await world.operator())
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", "/devnet/clock", json={"seconds": seconds})
    assert refused.value.status == 422


async def test_devnet_is_limited_to_operator_admins_and_embedded_chains(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = await world.operator()
    below, tenant = await world.organization(parent=root), await world.organization("Tenant")
    admin, viewer, lower, tenants = (
        await world.person(root),
        await world.person(root, Role.VIEWER),
        await world.person(below),
        await world.person(tenant),
    )
    own = await tenants.call("POST", "/orgs", json={"name": "A root of one's own"})
    assert own["depth"] == 0
    assert len((await admin.call("GET", "/devnet"))["chains"]) == 3
    calls = [
        ("GET", "/devnet", None),
        ("POST", "/devnet/clock", {"seconds": 1}),
        ("POST", "/devnet/clock", {"seconds": "a day"}),
        ("POST", "/devnet/faults", {"chain_eid": SEPOLIA, "kind": "down"}),
        ("POST", "/devnet/reset", None),
    ]
    for method, path, body in calls:
        for person in (viewer, lower, tenants):
            with pytest.raises(ApiProblem) as refused:
                await person.call(method, path, json=body)
            assert refused.value.status == 403
            assert "operator" in refused.value.detail
        with pytest.raises(ApiProblem) as refused:
            await world.client.call(method, path, json=body, headers=await world.key(root))
        assert refused.value.status == 403
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", "/devnet/reset")
    assert refused.value.status == 409, "this process cannot restart itself"
    monkeypatch.setattr(Settings, "embedded_chains", False)
    for method, path, body in calls:
        with pytest.raises(ApiProblem) as refused:
            await admin.call(method, path, json=body)
        assert refused.value.status == 404


async def test_devnet_reset_deletes_everything_and_serves_again(installation: Serve) -> None:
    """The last test, because nothing remains: chains and database are deleted, and the same process serves again."""
    pid = installation.process.pid
    async with at_work(installation) as business:
        await business.asset("GONE")
        token = business.client._token
        assert (await business.client.get_devnet()).can_reset
        assert "restarts within a minute" in (await business.client.reset_devnet()).message
    await asyncio.to_thread(installation.wait, lambda: not Path(installation.home / "reset").exists())
    await asyncio.to_thread(installation.ready)
    assert installation.process.poll() is None
    assert installation.process.pid == pid
    async with SignumClient(f"http://127.0.0.1:{installation.port}", token=token) as before:
        with pytest.raises(ApiProblem) as ended:
            await before.get_me()
        assert ended.value.status == 401
    await asyncio.to_thread(bootstrap, installation)
    async with at_work(installation) as again:
        assert (await again.client.list_assets(again.org)).assets == []
        assert (await again.client.get_devnet()).clock_offset_seconds == 0
        await again.asset("NEW")
