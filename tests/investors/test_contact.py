"""The person whom an investor can contact, and the cash in their wallets."""

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.models import MemberRow
from backend.users.schemas import Role
from tests.conftest import World
from tests.investors.scene import Investor, Scene
from tests.support.issuance import SEPOLIA, Issuance


async def test_contact_is_who_added_the_investor_and_then_the_officer(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    await world.person(firm.id, Role.VIEWER)
    ada = await Investor.of(world, firm.id)
    other_firm = await Issuance.ready(world, SEPOLIA)
    async with db.worker() as session:
        mine = col(MemberRow.id) == ada.membership
        await session.execute(sa.update(MemberRow).where(mine).values(added_by=firm.admin.user_id))
    contact = (await ada.get())["contact"]
    assert contact == {"name": firm.admin.email.partition("@")[0].title(), "email": firm.admin.email}

    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    async with db.worker() as session:
        mine = col(MemberRow.id) == ada.membership
        await session.execute(sa.update(MemberRow).where(mine).values(added_by=other_firm.admin.user_id))
    assert (await ada.get())["contact"]["email"] == officer.email


async def test_cash_of_the_home_is_that_of_the_market(scene: Scene) -> None:
    [kept] = (await scene.ben.get(f"/markets/{scene.market['id']}"))["kept"]
    [cash] = (await scene.ben.get("/holdings"))["cash"]
    assert (cash["address"], cash["amount"]) == (kept["address"], kept["quote"])
    assert (cash["chain_eid"], cash["symbol"], cash["decimals"]) == (SEPOLIA, "tUSD", 6)
