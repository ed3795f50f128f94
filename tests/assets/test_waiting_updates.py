"""A change of an asset changes nothing before it starts: not the asset, not a later change, and no chain."""

from typing import Any

import pytest

from backend.assets import deployment
from backend.assets import workflow as assets
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable
from tests.conftest import World
from tests.controls.issuer import Issuer, issuer
from tests.support.crash import run, unqueued
from tests.support.firm import HYPEREVM, SEPOLIA

pytestmark = pytest.mark.long

LEAKED = {"max_holders": 7, "name": "Leaked", "description": "Leaked"}


async def leaked(world: World, firm: Issuer, *changes: dict[str, Any]) -> list[str]:
    """Return the requests of changes that wait, made with a key that is revoked since."""
    key = await firm.post("/api-keys", {"name": "leaked", "scopes": ["assets:write"]})
    with unqueued():
        path = f"{firm.base}/assets/{firm.of['id']}"
        made = [await world.client.call("PATCH", path, json=change, token=key["key"]) for change in changes]
    await firm.delete(f"/api-keys/{key['id']}")
    assert [answer["status"] for answer in made] == ["updating"] * len(changes)
    return [answer["requestId"] for answer in made]


async def patched(firm: Issuer, change: dict[str, Any]) -> str:
    """Return the request of an admin's change that waits."""
    with unqueued():
        return str((await firm.patch(f"/assets/{firm.of['id']}", change))["requestId"])


async def ended(firm: Issuer, *requests: str) -> list[Any]:
    """Run changes in their order and return their requests."""
    for request in requests:
        await run(assets.update, assets.update_failed, firm.id, request)
    return [await firm.get(f"/requests/{request}") for request in requests]


async def shown(firm: Issuer) -> dict[str, Any]:
    asset = await firm.get(f"/assets/{firm.of['id']}")
    names = ("status", "failure", "max_holders", "required_kyc_level", "name", "description")
    return {name: asset[name] for name in names}


async def on_chain(firm: Issuer) -> tuple[int, int]:
    rules = await token.rules(SEPOLIA, firm.token_at)
    return rules.max_holders, rules.min_kyc_level


async def test_asset_is_shown_as_it_is_while_a_change_waits(world: World) -> None:
    firm = await issuer(world, max_holders=50)
    before = await shown(firm)
    request = await patched(firm, LEAKED)
    assert await shown(firm) == before | {"status": "updating"}
    (change,) = await ended(firm, request)
    assert change["status"] == "succeeded"
    assert await shown(firm) == before | LEAKED
    assert await on_chain(firm) == (7, 0)


async def test_denied_changes_of_an_asset_leave_no_trace(world: World) -> None:
    firm = await issuer(world, max_holders=50)
    before = await shown(firm)
    requests = await leaked(world, firm, LEAKED, {"description": "Second"})
    assert [request["status"] for request in await ended(firm, *requests)] == ["denied", "denied"]
    assert await shown(firm) == before
    (change,) = await ended(firm, await patched(firm, {"required_kyc_level": 1}))
    assert change["status"] == "succeeded"
    assert (await on_chain(firm), (await shown(firm))["name"]) == ((50, 1), before["name"])


async def test_change_above_a_denied_one_writes_only_its_own_fields(world: World) -> None:
    firm = await issuer(world, max_holders=50)
    before = await shown(firm)
    (first,) = await leaked(world, firm, LEAKED)
    second = await patched(firm, {"required_kyc_level": 1})
    requests = await ended(firm, first, second)
    assert [request["status"] for request in requests] == ["denied", "succeeded"]
    assert await shown(firm) == before | {"required_kyc_level": 1}
    assert await on_chain(firm) == (50, 1)


async def test_change_back_to_the_former_rules_reaches_the_chain_after_the_one_that_waited(world: World) -> None:
    firm = await issuer(world, max_holders=50)
    requests = [await patched(firm, {"max_holders": count}) for count in (7, 50)]
    assert [request["status"] for request in await ended(firm, *requests[:1])] == ["succeeded"]
    assert await on_chain(firm) == (7, 0)
    (back,) = await ended(firm, *requests[1:])
    assert [step["status"] for step in back["steps"]] == ["succeeded", "succeeded"]
    assert await on_chain(firm) == (50, 0)


async def test_bridge_beside_a_waiting_change_writes_the_rules_before_it(world: World) -> None:
    firm = await issuer(world, required_kyc_level=2)
    (waiting,) = await leaked(world, firm, {"required_kyc_level": 0})
    await firm.enable(HYPEREVM)
    bridge = await firm.post(f"/assets/{firm.of['id']}/bridge", {"destination_chain_eid": HYPEREVM})
    await firm.succeed(bridge["requestId"])
    places = (await firm.get(f"/assets/{firm.of['id']}"))["deployments"]
    rules = [await token.rules(place["chain_eid"], place["token_address"]) for place in places]
    assert [found.min_kyc_level for found in rules] == [2, 2]
    assert (await ended(firm, waiting))[0]["status"] == "denied"


async def test_change_that_no_longer_fits_when_it_starts_fails_and_changes_nothing(world: World) -> None:
    firm = await issuer(world, max_holders=50)
    before = await shown(firm)
    request = await patched(firm, {"max_holders": 1})
    await firm.enable(HYPEREVM)
    bridge = await firm.post(f"/assets/{firm.of['id']}/bridge", {"destination_chain_eid": HYPEREVM})
    await firm.succeed(bridge["requestId"])
    (change,) = await ended(firm, request)
    assert (change["status"], change["can_retry"]) == ("failed", True)
    assert await shown(firm) == before | {"failure": change["problem"]["detail"]}
    assert "cannot be shared" in change["problem"]["detail"]


async def test_failure_of_a_change_stays_after_a_later_one_was_denied(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await issuer(world, max_holders=50)
    own = await patched(firm, {"max_holders": 40})
    (other,) = await leaked(world, firm, LEAKED)

    async def gone(*_: Any, **__: Any) -> None:
        raise ChainUnavailable("The node of the chain does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr(deployment, "write", gone)
        await ended(firm, own)
    assert [request["status"] for request in await ended(firm, own, other)] == ["failed", "denied"]
    asset = await shown(firm)
    facts = (asset["status"], asset["failure"], asset["max_holders"])
    assert facts == ("active", "The node of the chain does not answer.", 40)
    await ended(firm, await patched(firm, {"description": "New"}))
    assert (await on_chain(firm), (await shown(firm))["failure"]) == ((40, 0), None)
