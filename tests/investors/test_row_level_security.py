"""The wall inside the database: an investor's transaction sees only rows about the investor, in any query.

The tables and columns come from the catalog, so a new table is closed by default.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, ProgrammingError

from backend.auth import investor_entry
from backend.auth.credential_owners import Person
from backend.auth.principal import Context
from backend.core import db
from backend.core.errors import NotFound
from backend.models import PartyRow
from tests.conftest import World
from tests.investors.scene import Investor, Scene

SEEN = {
    "assets", "asset_deployments", "markets", "parties", "attestations", "orders", "token_transfers", "distributions",
    "distribution_recipients", "trades", "users", "members", "party_documents", "party_files", "party_file_parts",
}  # fmt: skip
"""Tables with rows for an investor of the scene. No one has claimed yet."""
COLUMNS = """
  select c.relname, string_agg(quote_ident(a.attname), ',') as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where n.nspname = 'public' and c.relkind in ('r', 'p') and c.relrowsecurity and a.attnum > 0 and not a.attisdropped
    and has_column_privilege('signum_app', c.oid, a.attnum, 'select')
  group by c.relname
"""


@asynccontextmanager
async def entered(investor: Investor) -> AsyncIterator[db.Write]:
    """Open a transaction as a request of the investor does, and roll it back."""
    async with db.transaction() as session:
        await db.see_oneself(session, investor.actor.user_id)
        await investor_entry.enter(session, investor.membership, "127.0.0.1")
        yield session
        await session.rollback()


async def tables() -> dict[str, str]:
    async with db.worker() as session:
        return {row.relname: row.columns for row in await session.execute(sa.text(COLUMNS))}


async def visible(session: db.Write) -> dict[str, str]:
    """Return every row that the transaction sees, as text by table."""
    found = {}
    for name, columns in (await tables()).items():
        query = sa.text(f"select row({columns})::text from {name}")
        if rows := list(await session.scalars(query)):
            found[name] = "\n".join(rows)
    return found


async def test_investor_sees_only_own_rows_also_after_a_pause(scene: Scene) -> None:
    ada, ben = scene.ada, scene.ben
    async with entered(ada) as session:
        before = await visible(session)
        async with db.paused(session):
            pass
        assert await visible(session) == before, "a pause keeps the wall"
    assert before.keys() == SEEN
    text = "\n".join(before.values())
    # Not even of the trade between them. The row of a party names who reviewed it; the API does not.
    for mark in ben.marks | {scene.firm.admin.email}:
        assert mark not in text, mark
    assert before["distributions"].count("\n") == 0, "the draft is not visible"
    async with entered(ben) as session:
        assert ada.wallet["address"] not in "\n".join((await visible(session)).values())


async def changed(session: db.Write, change: str) -> int:
    """Return how many rows a statement changes; none where the privilege is missing."""
    try:
        async with session.begin_nested():
            result: Any = await session.execute(sa.text(change))
            return int(result.rowcount)
    except ProgrammingError as error:
        if "permission denied" in str(error):
            return 0
        raise


async def test_investor_writes_to_no_table(scene: Scene) -> None:
    async with entered(scene.ada) as session:
        for name, columns in (await tables()).items():
            one = columns.split(",")[0]
            for change in (f"delete from {name}", f"update {name} set {one} = {one}"):
                assert await changed(session, change) == 0, change
        for name in SEEN:
            await refused_insert(session, name)


async def refused_insert(session: db.Write, table: str, change: str = "") -> None:
    """Copy a visible row of a table, and fail if the database accepts it. The columns of people may not be written."""
    why = "permission denied" if table == "users" else "row-level security"
    with pytest.raises(DBAPIError, match=why):
        async with session.begin_nested():
            await session.execute(sa.text(change or f"insert into {table} select * from {table} limit 1"))


async def test_write_of_an_investor_opens_only_what_it_needs(scene: Scene) -> None:
    ada, ben = scene.ada, scene.ben
    async with entered(ada) as session:
        before = await visible(session)
        await investor_entry.write(session, UUID(ada.party["id"]))
        assert await visible(session) == before, "a write shows nothing more"
        for name, columns in (await tables()).items():
            one = columns.split(",")[0]
            assert await changed(session, f"delete from {name}") == 0, name
            updated = await changed(session, f"update {name} set {one} = {one}")
            assert updated == (1 if name == "parties" else 0), name
        for name in SEEN - {"party_documents", "party_files", "party_file_parts"}:
            await refused_insert(session, name)
        for own, forged in (("party_id", ben.party["id"]), ("uploaded_by", scene.firm.admin.user_id)):
            columns = (await tables())["party_documents"]
            values = columns.replace(own, f"'{forged}'")
            await refused_insert(
                session, "party_documents",
                f"insert into party_documents ({columns}) select {values} from party_documents limit 1",
            )  # fmt: skip
    async with entered(ada) as session:
        await investor_entry.write(session, "membership")
        for name in await tables():
            assert await changed(session, f"delete from {name}") == (1 if name == "members" else 0), name
        assert (await visible(session)).keys() == {"assets", "asset_deployments", "markets"}, "public on chain"


async def test_write_about_another_investor_is_refused(scene: Scene) -> None:
    async with entered(scene.ada) as session:
        with pytest.raises(NotFound):
            await investor_entry.write(session, UUID(scene.ben.party["id"]))
        assert await changed(session, "update parties set name = name") == 0
    async with db.transaction() as session:
        await db.see_oneself(session, scene.ada.actor.user_id)
        with pytest.raises(NotFound):
            await investor_entry.write(session, "membership")


async def test_functions_for_staff_show_an_investor_nothing(scene: Scene) -> None:
    org = {"org": scene.firm.id}
    kinds = "array['party','member','wallet','api_key','asset']"
    async with entered(scene.ada) as session:
        for call in (
            "signum_access(:org)",
            "signum_listed(:org, false, null, null, null, 50, null)",
            f"signum_search(:org, {kinds}, array[]::text[], 'a', true, true, 50, 50, null)",
            "signum_other_roles(null, :org)",
            "signum_requiring_approval(:org)",
            "signum_known_chains(:org)",
            "signum_acquainted",
        ):
            assert await session.scalar(sa.text(f"select count(*) from {call}"), org) == 0, call
        for call in ("signum_audit_head(:org)", "signum_webhook_targets(:org, 'asset.created')"):
            with pytest.raises(DBAPIError, match="not entered"):
                async with session.begin_nested():
                    await session.execute(sa.text(f"select * from {call}"), org)


async def test_public_facts_of_markets_and_trees_name_no_other_investor(scene: Scene) -> None:
    book = sa.text("select * from signum_investor_book(:market)")
    tree = sa.text("select count(*) from signum_investor_tree(:distribution, array[0])")
    # Those of the scene are the oldest: other tests may have added some.
    listed = (
        "select id, distributor_address is null as is_draft from distributions where organization_id = :org "
        "order by created_at desc"
    )
    async with db.worker() as session:
        made = {row.is_draft: row.id for row in await session.execute(sa.text(listed), {"org": scene.firm.id})}
    for investor, own in ((scene.ada, scene.ada.wallet["address"]), (scene.ben, None)):
        async with entered(investor) as session:
            [order] = await session.execute(book, {"market": UUID(scene.market["id"])})
            assert (order.side, order.own_address) == ("sell", own), "the order is Ada's"
            assert await session.scalar(tree, {"distribution": made[False]}) == 1
            assert await session.scalar(tree, {"distribution": made[True]}) == 0, "a draft"
    stranger = await Investor.of(World(scene.firm.admin.client), scene.firm.id)
    async with entered(stranger) as session:
        assert await session.scalar(tree, {"distribution": made[False]}) == 0, "not a recipient"
    async with db.transaction() as session:
        await db.see_oneself(session, scene.ada.actor.user_id)
        assert list(await session.execute(book, {"market": UUID(scene.market["id"])})) == [], "has not entered"


async def test_new_transaction_of_an_investor_has_the_same_wall(scene: Scene) -> None:
    """A response that still streams after its request."""
    ada = scene.ada
    async with db.transaction() as session:
        await db.see_oneself(session, ada.actor.user_id)
        person = Person(ada.actor.user_id, ada.actor.email, "", UUID(int=1), None, db.now(), by_cookie=True)
        context = Context(session, person, None, address="127.0.0.1")
        await context.enter_as_investor(ada.membership)
        assert (context.organization_id, context.scopes) == (scene.firm.id, frozenset())
    async with context.in_new_transaction() as later:
        assert (await visible(later.session)).keys() == SEEN
    gone = replace(context, investor=scene.ben.membership)
    with pytest.raises(NotFound):
        async with gone.in_new_transaction():
            raise AssertionError("not reached")


async def test_removed_member_sees_nothing_of_their_own_in_a_running_request(world: World) -> None:
    organization = await world.organization()
    investor = await Investor.of(world, organization)
    async with db.worker() as session:
        session.add(PartyRow(organization_id=organization, name="Ada", email=investor.actor.email, country="SWE"))
    async with entered(investor) as session:
        assert (await visible(session)).keys() == {"parties", "users", "members"}
        async with db.paused(session), db.worker() as other:
            await other.execute(sa.text("delete from members where id = :id"), {"id": investor.membership})
        assert await visible(session) == {}
