"""Bridge paths: their verifiers come from settings, are written for each token, read back and shown."""

from typing import Any

import pytest

from backend.bridges import paths as path_checks
from backend.chain.bindings import token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.layerzero import paths
from backend.chain.layerzero.paths import Verifiers
from backend.chain.layerzero.verifiers import TooFewVerifiers
from backend.core.errors import Conflict
from backend.core.setting_fields.paths import PathSettings
from backend.core.settings import settings
from tests.bridges.delivery import bridged
from tests.bridges.mainnets import on_mainnets
from tests.conftest import World
from tests.support.crash import sent
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance

pytestmark = pytest.mark.long

LIBRARY = "0x" + "1b" * 20


def dvns(first: int, count: int = 2) -> list[str]:
    """In descending order: the libraries require another order."""
    return [f"0x{number:040x}" for number in range(first + count - 1, first - 1, -1)]


def path(first: int, required: int = 2, **values: Any) -> PathSettings:
    """A path whose DVNs are numbered from `first` on the source and from `first + 100` on the destination."""
    ends = {
        "send": {"required_dvns": dvns(first, required), "optional_dvns": dvns(first + 50), "library": LIBRARY},
        "receive": {"required_dvns": dvns(first + 100, required), "optional_dvns": dvns(first + 150)},
    }
    return PathSettings(**ends | {"confirmations": 15, "optional_threshold": 1} | values)


def both_ways(required: int = 2) -> dict[int, dict[int, PathSettings]]:
    return {SEPOLIA: {BASE: path(0x1000, required)}, BASE: {SEPOLIA: path(0x2000, required, confirmations=20)}}


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> dict[int, dict[int, PathSettings]]:
    monkeypatch.setattr(settings(), "bridge_paths", both_ways())
    return settings().bridge_paths


def addresses(first: int, count: int = 2) -> tuple[str, ...]:
    return Verifiers.of(path(first, count), path(first, count).send).required


async def test_path_settings_are_written_for_each_token_and_read_back(
    world: World, configured: dict[int, dict[int, PathSettings]]
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    await firm.succeed((await bridged(firm, asset, BASE, UNIT))["requestId"])
    tokens = await tokens_of(firm, asset)
    at = (await contracts_of(SEPOLIA)).endpoint
    sends, receives = await paths.both(SEPOLIA, at, tokens[SEPOLIA], BASE)
    assert (sends.library.lower(), sends.is_pinned) == (LIBRARY, True)
    assert sends.verifiers.required == addresses(0x1000)
    assert (sends.verifiers.confirmations, sends.verifiers.threshold) == (15, 1)
    assert sends.options == "0x00030100110100000000000000000000000000" + f"{300_000:06x}"
    assert (receives.library, receives.is_pinned) == (await operator(), True)
    assert receives.verifiers.required == addresses(0x2000 + 100)
    assert receives.verifiers.confirmations == 20
    there = (await contracts_of(BASE)).endpoint
    sends, receives = await paths.both(BASE, there, tokens[BASE], SEPOLIA)
    assert (sends.verifiers.required, receives.verifiers.required) == (addresses(0x2000), addresses(0x1000 + 100))

    before = await sent(firm.id)
    await firm.succeed((await bridged(firm, asset, BASE, UNIT))["requestId"])
    again = await sent(firm.id)
    for label in before:
        again.remove(label)
    assert again == [f"bridge {asset['symbol']}"], "equal settings are not written again"


async def test_path_settings_changes_are_written_by_the_next_bridge(
    world: World, configured: dict[int, dict[int, PathSettings]], monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    await firm.succeed((await bridged(firm, asset, BASE, UNIT))["requestId"])
    shown = await path_of(firm)
    assert [(t["symbol"], t["agrees"]) for t in shown["tokens"]] == [(asset["symbol"], True)]
    assert shown["tokens"][0]["sends"]["required_dvns"] == list(addresses(0x1000))
    monkeypatch.setattr(settings(), "bridge_paths", both_ways(3))
    shown = await path_of(firm)
    assert [t["agrees"] for t in shown["tokens"]] == [False]
    await firm.succeed((await bridged(firm, asset, BASE, UNIT))["requestId"])
    shown = await path_of(firm)
    assert [t["agrees"] for t in shown["tokens"]] == [True]
    assert shown["tokens"][0]["sends"]["required_dvns"] == list(addresses(0x1000, 3))


async def test_token_peers_are_set_after_their_verifiers(
    world: World, configured: dict[int, dict[int, PathSettings]], monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    seen: list[bool] = []
    set_peer = token.set_peer

    def noted(*arguments: Any) -> Any:
        seen.append(True)
        return set_peer(*arguments)

    async def broken(*_: Any) -> Any:
        raise Conflict("The endpoint says no.")

    with monkeypatch.context() as patch:
        patch.setattr(token, "set_peer", noted)
        patch.setattr(paths, "changes", broken)
        accepted = await bridged(firm, asset, BASE, UNIT)
        request = await firm.fail(accepted["requestId"])
    assert request["problem"]["detail"] == "The endpoint says no."
    assert seen == []
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"


async def test_bridge_between_mainnets_with_fewer_than_two_dvns_is_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    requests = await firm.get("/requests")
    bridge, market = f"/assets/{asset['id']}/bridge", f"/assets/{asset['id']}/markets"
    calls = ((bridge, {"destination_chain_eid": BASE}), (market, await firm.market_body(BASE)))
    one_way = {SEPOLIA: both_ways()[SEPOLIA]}
    async with on_mainnets(firm):
        for given, source, destination, named in (
            ({}, "Sepolia Devnet", "Base Sepolia Devnet", "none"),
            (both_ways(1), "Sepolia Devnet", "Base Sepolia Devnet", "1"),
            (one_way, "Base Sepolia Devnet", "Sepolia Devnet", "none"),
        ):
            monkeypatch.setattr(settings(), "bridge_paths", given)
            for route, body in calls:
                for params in ({}, {"dry_run": "true"}):
                    problem = await firm.refused("POST", route, 409, json=body, params=params)
                    assert problem.detail.startswith(
                        f"Packets from {source} to {destination} must be verified by at least 2 required DVNs, but the "
                        f"settings name {named}."
                    )
                    assert "SIGNUM_BRIDGE_PATHS" in problem.detail
                    assert problem.body["setting"] == "SIGNUM_BRIDGE_PATHS"
        shown = await path_of(firm)
        assert not shown["is_allowed"]
        assert "SIGNUM_BRIDGE_PATHS" in shown["summary"]
        assert (await firm.get("/requests")) == requests

        monkeypatch.setattr(settings(), "bridge_paths", both_ways())
        shown = await path_of(firm)
        assert shown["is_allowed"]
        assert shown["summary"] == "2 required DVNs and 1 of 2 optional ones verify each packet after 15 confirmations."
        await firm.post(f"{bridge}?dry_run=true", {"destination_chain_eid": BASE})


async def test_bridge_whose_path_lost_its_dvns_after_acceptance_is_rejected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    before = await sent(firm.id)

    looks: list[bool] = []

    async def once(*_: Any) -> None:
        if looks:
            raise TooFewVerifiers("Too few DVNs.")
        looks.append(True)

    with monkeypatch.context() as patch:
        patch.setattr(path_checks, "check", once)
        request = await firm.fail((await bridged(firm, asset, BASE, UNIT))["requestId"])
    assert request["problem"]["detail"] == "Too few DVNs."
    assert await sent(firm.id) == before


async def test_bridge_between_test_networks_is_allowed_with_a_note(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    bridge = f"/assets/{asset['id']}/bridge?dry_run=true"
    plan = await firm.post(bridge, {"destination_chain_eid": BASE})
    assert plan["impact"]["warnings"] == []
    shown = await path_of(firm)
    assert shown["summary"] == "The operator verifies and delivers packets between embedded chains."
    with monkeypatch.context() as patch:
        patch.setattr(path_checks.node_urls, "is_embedded", lambda eid: False)
        plan = await firm.post(bridge, {"destination_chain_eid": BASE})
    assert len(plan["impact"]["warnings"]) == 1
    assert plan["impact"]["warnings"][0].startswith("Fewer than 2 required DVNs verify packets from Sepolia Devnet to ")


async def tokens_of(firm: Issuance, asset: Any) -> dict[int, str]:
    deployments = (await firm.get(f"/assets/{asset['id']}"))["deployments"]
    return {d["chain_eid"]: d["token_address"] for d in deployments}


async def path_of(firm: Issuance, source: int = SEPOLIA, destination: int = BASE) -> Any:
    chain = await firm.chain(source)
    return next(p for p in chain["paths"] if p["destination_chain_eid"] == destination)
