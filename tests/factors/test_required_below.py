"""Records of an organization below that requires a second factor are hidden from people without one."""

from typing import Any
from uuid import UUID

import pytest

from backend.core import db
from backend.core.changes import publish
from backend.core.db import new_id
from tests.conftest import Actor, World
from tests.factors.steps import problem_of, set_up
from tests.support.firm import Firm
from tests.webhooks.conftest import Endpoint

URL = "http://localhost:1024/hooks"


async def strict_below(world: World) -> tuple[Firm, Firm, Firm]:
    """An organization, one below it that requires a second factor, and one below that."""
    top = await Firm.found(world, "Quarry Group")
    strict = await Firm.found(world, "Quarry Strict", parent=top.id)
    deep = await Firm.found(world, "Quarry Deep", parent=strict.id)
    for firm in (top, strict, deep):
        await firm.party(name="Quarry Party")
    return top, strict, deep


async def require(strict: Firm) -> None:
    """Let the organization require a second factor, by its own admin with a factor."""
    await set_up(strict.admin)
    await strict.patch("", {"require_second_factor": True})


async def places(actor: Actor, organization: UUID) -> set[str]:
    """Return the organizations in the results of a search."""
    found = await actor.call("GET", f"/orgs/{organization}/search", params={"q": "quarry"})
    return {r["organization_name"] for r in found["results"]}


@pytest.mark.long
async def test_search_by_a_person_without_a_factor_omits_organizations_that_require_one(world: World) -> None:
    top, strict, _ = await strict_below(world)
    everything = {"Quarry Group", "Quarry Strict", "Quarry Deep"}
    assert await places(top.admin, top.id) == everything
    await require(strict)
    assert await places(top.admin, top.id) == {"Quarry Group"}
    await set_up(top.admin)
    assert await places(top.admin, top.id) == everything


async def publish_events(*organizations: UUID) -> None:
    """Cause an event in each of some organizations."""
    for organization in organizations:
        async with db.transaction(organization) as session:
            await publish(session, organization, "party.verified", ("party", new_id()), None, {"status": "verified"})


@pytest.mark.long
async def test_delivery_log_for_a_person_without_a_factor_omits_organizations_that_require_one(world: World) -> None:
    top, strict, deep = await strict_below(world)
    end = await Endpoint.made(world, URL, top.id, include_descendants=True, event_types=["party.verified"])
    await publish_events(top.id, strict.id, deep.id)

    async def shown() -> list[Any]:
        return [d["payload"]["data"]["organization_id"] for d in await end.deliveries()]

    assert set(await shown()) == {str(top.id), str(strict.id), str(deep.id)}
    hidden = next(d for d in await end.deliveries() if d["payload"]["data"]["organization_id"] == str(strict.id))
    await require(strict)
    assert await shown() == [str(top.id)]
    replay = await problem_of(end.post(f"/deliveries/{hidden['id']}/replay"))
    assert replay.status == 404
    await set_up(end.admin)
    assert set(await shown()) == {str(top.id), str(strict.id), str(deep.id)}


@pytest.mark.long
async def test_person_without_a_factor_cannot_redirect_events_of_organizations_that_require_one(world: World) -> None:
    top, strict, _ = await strict_below(world)
    narrow = await Endpoint.made(world, URL, top.id)
    wide = await Endpoint.made(world, URL, top.id, include_descendants=True)
    await require(strict)
    path, body = f"/orgs/{top.id}/webhooks", {"url": URL, "include_descendants": True}
    for call in (
        top.admin.call("POST", path, json=body),
        narrow.patch(include_descendants=True),
        wide.patch(url=URL + "/elsewhere"),
    ):
        refused = await problem_of(call)
        assert (refused.status, refused.rule) == (403, "second_factor_required")
    await wide.patch(description="The auditors'")
    await set_up(top.admin)
    await top.admin.call("POST", path, json=body)
