"""Who could approve a request, in the list of people with access, as the approval itself decides it."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.models import MemberRow
from backend.users.schemas import Role
from tests.approvals.second_person import WHY, approve, asking, path_of, waiting
from tests.conftest import Actor, World
from tests.members.test_consent import linked
from tests.support.firm import Firm, refused


async def obstacles(firm: Firm, approval: Any = None) -> dict[str, str | None]:
    """Return by person why they cannot approve an approval, or a new request of the admin."""
    params = {"approvalId": approval["id"]} if approval else {}
    people = (await firm.get("/access", params=params))["access"]
    return {one["user_id"]: one["cannot_approve"] for one in people}


async def changed(person: Actor, **values: Any) -> None:
    async with db.worker() as session:
        change = sa.update(MemberRow).where(col(MemberRow.user_id) == person.user_id)
        await session.execute(change.values(**values))


async def test_access_says_who_can_approve_a_request(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset, own = await firm.asset(), await linked(world, firm.admin)
    by_wallet, appointed = await world.person(firm.id), await world.person(firm.id)
    viewer, here = await world.person(firm.id, Role.VIEWER), str(firm.admin.user_id)
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    newer = await world.person(firm.id)
    await changed(by_wallet, wallet_address=own)
    await changed(appointed, appointed_by=firm.admin.user_id)
    found = await obstacles(firm, approval)
    people = [(second, None), (by_wallet, "wallet"), (appointed, "appointed"), (viewer, "role"), (newer, "newer")]
    assert found == {here: "requester"} | {str(one.user_id): why for one, why in people}
    of_new = await obstacles(firm)
    assert (of_new[here], of_new[str(second.user_id)], of_new[str(newer.user_id)]) == ("requester", None, None)
    assert (of_new[str(by_wallet.user_id)], of_new[str(appointed.user_id)]) == ("wallet", "appointed")
    for one in (by_wallet, appointed, viewer, newer):
        await refused(one, "POST", path_of(firm, approval, "approve"), 403)
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    elsewhere = await Firm.found(world, "Elsewhere")
    await elsewhere.refused("GET", f"/access?approvalId={approval['id']}", 404)
