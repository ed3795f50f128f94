"""Keys of new server wallets: limited, made beside other work, and deleted when their request is refused."""

import asyncio
import threading
from typing import Any

import pytest
from limits import RateLimitItemPerDay

from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.signing import wallet_keys
from backend.chain.signing.wallet_provider import Keystore
from backend.client import ApiProblem
from backend.core import fair_places
from backend.core.runtime import runtime
from backend.limits import rate_limits
from backend.organizations import quotas
from tests.conftest import World
from tests.support.firm import BASE, Firm

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
PATIENCE = 60
"""Seconds after which work that should not wait counts as blocked."""


def keys() -> set[str]:
    return wallet_keys.addresses()


async def tried(firm: Firm, label: str, **body: str) -> tuple[int, str]:
    """Create a wallet; return status and detail."""
    try:
        await firm.post("/wallets", {"label": label, **body})
    except ApiProblem as problem:
        return problem.status, problem.detail
    return 201, ""


async def test_organization_at_the_quota_of_server_wallets_makes_no_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "SERVER_WALLETS", 1)
    firm, before = await Firm.found(world), keys()
    await firm.post("/wallets", {"label": "Treasury"})
    status, detail = await tried(firm, "Custody")
    assert (status, detail) == (409, "An organization has at most 1 server wallets; delete one first.")
    assert len(keys() - before) == 1
    assert await tried(firm, "Ledger", address=ADDRESS) == (201, "")


async def test_server_wallets_created_concurrently_stay_within_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pass the first check; those that are refused afterwards leave no key."""
    monkeypatch.setattr(quotas, "SERVER_WALLETS", 2)
    firm, before = await Firm.found(world), keys()
    made = await asyncio.gather(*(tried(firm, str(number)) for number in range(5)))
    assert sorted(status for status, _ in made) == [201, 201, 409, 409, 409]
    assert len(keys() - before) == 2


async def test_server_wallets_below_one_root_are_limited_per_day(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "SERVER_WALLETS_BELOW", RateLimitItemPerDay(2))
    top = await Firm.found(world, "Top")
    unit, other = await Firm.found(world, "Unit", top.id), await Firm.found(world, "Other")
    assert [await tried(firm, "Treasury") for firm in (top, unit)] == [(201, "")] * 2
    before = keys()
    status, detail = await tried(unit, "Custody")
    assert status == 429
    assert detail.startswith("At most 2 server wallets are created below one root organization a day. Retry in ")
    assert keys() == before
    assert await tried(other, "Treasury") == (201, "")


async def test_key_of_a_request_refused_afterwards_is_deleted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm, before = await Firm.found(world), keys()
    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, BASE, "http://127.0.0.1:9")
    assert (await tried(firm, "No gas"))[0] == 503
    assert keys() == before


class Derivations:
    """Derivations of new keys that wait until the test releases them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.released, self.begun, self._create = threading.Event(), 0, Keystore._create
        monkeypatch.setattr(Keystore, "_create", lambda store: self._wait(store))

    def _wait(self, store: Keystore) -> Any:
        self.begun += 1
        assert self.released.wait(PATIENCE * 4)
        return self._create(store)

    async def until_begun(self, number: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.begun < number:  # noqa: ASYNC110 - a count changes
                await asyncio.sleep(0.01)


@pytest.mark.long
async def test_key_derivations_of_one_hierarchy_delay_no_other_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood, other = await Firm.found(world, "Flood"), await Firm.found(world, "Other")
    derivations = Derivations(monkeypatch)
    many = [asyncio.create_task(tried(flood, str(number))) for number in range(36)]
    await derivations.until_begun(1)
    fair = asyncio.create_task(tried(other, "Treasury"))
    await derivations.until_begun(2)
    try:
        await asyncio.wait_for(asyncio.to_thread(int), PATIENCE)
        assert (await asyncio.wait_for(other.get("/audit/verify"), PATIENCE))["whole"]
        await asyncio.wait_for(world.sign_in(other.admin.email), PATIENCE)
        assert derivations.begun == 2
    finally:
        derivations.released.set()
        answers = await asyncio.gather(fair, *many)
    assert answers == [(201, "")] * 37


async def test_request_without_a_turn_is_not_counted_as_a_server_wallet(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "SERVER_WALLETS_BELOW", RateLimitItemPerDay(3))
    monkeypatch.setattr(fair_places, "WAITING_EACH", 1)
    firm, derivations = await Firm.found(world), Derivations(monkeypatch)
    many = [asyncio.create_task(tried(firm, str(number))) for number in range(4)]
    await derivations.until_begun(1)
    async with asyncio.timeout(PATIENCE):
        while sum(one.done() for one in many) < 2:  # noqa: ASYNC110 - requests are refused
            await asyncio.sleep(0.01)
    derivations.released.set()
    answers = sorted(await asyncio.gather(*many))
    assert answers == [(201, "")] * 2 + [(429, "Rate limit exceeded. Retry in 2 s.")] * 2
    assert await tried(firm, "Custody") == (201, "")
    assert (await tried(firm, "Too many"))[1].startswith("At most 3 server wallets")
