"""The public chain list, and an organization's chains."""

from typing import Any

import httpx
import pytest
from limits import RateLimitItemPerSecond

from backend.chain import alarms
from backend.chain.models import AlarmKind
from backend.client import ApiProblem
from backend.core import db
from backend.core.fields import Network
from backend.core.runtime import runtime as process
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.limits.moving_windows import Limiter
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm, refused


async def test_chain_list_is_public_and_has_the_specified_fields(world: World) -> None:
    for path in ("/chains/", "/chains"):
        chains = (await world.client.call("GET", path))["chains"]
        assert len(chains) == 18
    sepolia = next(c for c in chains if c["xchain_eid"] == SEPOLIA)
    assert set(sepolia) == {
        "id",
        "chain_type",
        "chain_key",
        "chain_name",
        "display_name",
        "xchain_eid",
        "vm_type",
        "native_chain_id",
        "native_currency_symbol",
        "chain_layer",
        "environment",
        "status",
        "priority",
        "is_signum_deployed",
        "rpc_url",
        "explorer_url",
    }
    assert (sepolia["environment"], sepolia["is_signum_deployed"]) == ("devnet", True)


@pytest.mark.parametrize(
    ("filters", "eids"),
    [
        ({"environment": "devnet"}, {40161, 40362, 40245}),
        ({"vm_type": "solana"}, {30168, 40168}),
        ({"deployed": "true"}, {40161, 40362, 40245}),
        ({"deployed": "false", "environment": "devnet"}, set()),
    ],
)
async def test_chain_filters_select_chains(world: World, filters: dict[str, str], eids: set[int]) -> None:
    found = (await world.client.call("GET", "/chains/", params=filters))["chains"]
    assert {c["xchain_eid"] for c in found} == eids


@pytest.mark.parametrize(
    "filters",
    [
        {"environment": "moon"},
        {"vm_type": "wasm"},
        {"deployed": "yes"},
        {"environment": "<script>alert(1)</script>"},
    ],
)
async def test_chains_with_an_invalid_filter_are_a_400(world: World, filters: dict[str, str]) -> None:
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("GET", "/chains/", params=filters)
    assert raised.value.status == 400
    assert "<script>" not in raised.value.detail


async def test_chain_list_is_limited_by_address(
    world: World, api: Any, frozen_limit_clock: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "rate_limits", "on")
    monkeypatch.setattr(process.part(rate_limits.Counts), "limiter", Limiter())
    monkeypatch.setitem(rate_limits.PER_PRINCIPAL, Network.TESTNET, RateLimitItemPerSecond(1_000))
    for _ in range(60):
        await world.client.call("GET", "/chains/")
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("GET", "/chains/")
    assert raised.value.status == 429
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        answer = (await http.get("/v1/chains/")).headers
    assert answer.get_list("ratelimit-policy") == ['"default";q=60;w=60'], "and not the value of another limit"


async def test_organization_lists_chains_of_its_network_and_enables_one(world: World) -> None:
    firm = await Firm.found(world)
    chains = (await firm.get("/chains"))["chains"]
    assert {c["environment"] for c in chains} == {"testnet", "devnet"}
    assert not any(c["enabled"] for c in chains)
    first, again = await firm.enable(SEPOLIA), await firm.enable(SEPOLIA)
    assert first == again
    assert first["enabled"] is True
    assert (first["quote_symbol"], first["quote_decimals"]) == ("tUSD", 6)
    for name in ("market_factory", "attestation_registry", "endpoint", "quote_token"):
        assert first[f"{name}_address"].startswith("0x")
    off = await firm.post(f"/chains/{first['id']}/disable")
    assert (off["enabled"], await firm.post(f"/chains/{first['id']}/disable")) == (False, off)
    assert not (await firm.chain(SEPOLIA))["enabled"]


async def test_chain_that_cannot_be_enabled_reports_why(world: World) -> None:
    firm = await Firm.found(world)
    chains = {c["chain_key"]: c["id"] for c in (await world.client.call("GET", "/chains/"))["chains"]}
    assert "mainnet" in (await firm.refused("POST", f"/chains/{chains['ethereum']}/enable", 400)).detail
    assert "Solana" in (await firm.refused("POST", f"/chains/{chains['solana-testnet']}/enable", 400)).detail
    assert "not deployed" in (await firm.refused("POST", f"/chains/{chains['fuji']}/enable", 409)).detail
    await firm.refused("POST", f"/chains/{firm.id}/enable", 404)
    await firm.refused("POST", "/chains/sepolia/enable", 404)
    assert not any(c["enabled"] for c in (await firm.get("/chains"))["chains"])


async def test_chain_enabled_by_one_organization_stays_disabled_for_others(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    chain = await mine.enable(SEPOLIA)
    assert not (await other.chain(SEPOLIA))["enabled"]
    await refused(mine.admin, "POST", f"{other.base}/chains/{chain['id']}/enable", 403)
    viewer = await world.person(mine.id, Role.VIEWER)
    problem = await refused(viewer, "POST", f"{mine.base}/chains/{chain['id']}/disable", 403)
    assert problem.type.endswith("/errors/insufficient-scope")


async def test_chain_terms_are_shown_in_words_and_numbers(world: World) -> None:
    firm = await Firm.found(world)
    chains = {c["xchain_eid"]: c for c in (await firm.get("/chains"))["chains"]}
    assert chains[SEPOLIA]["terms"]["summary"] == "Requests succeed as soon as their transactions are in a block."
    assert chains[SEPOLIA]["terms"]["succeeds_at"] == "included"
    amoy = chains[40267]["terms"]
    assert amoy["summary"] == "Requests succeed when their transactions have 2 confirmations (about 4 seconds)."
    assert chains[40168]["terms"] is None, "Solana has none"


async def test_open_alarms_are_listed_on_their_chain_until_cleared(world: World) -> None:
    firm = await Firm.found(world)
    async with db.worker() as session:
        await alarms.sound(session, SEPOLIA, AlarmKind.DEEP_REORG, "Rewind the chain.", "subject of a tenant")
    chain = await firm.chain(SEPOLIA)
    assert [(a["kind"], a["detail"]) for a in chain["alarms"]] == [("deep_reorg", "Rewind the chain.")]
    assert "subject of a tenant" not in str(chain)
    async with db.worker() as session:
        await alarms.clear(session, SEPOLIA, AlarmKind.DEEP_REORG)
    assert (await firm.chain(SEPOLIA))["alarms"] == []
