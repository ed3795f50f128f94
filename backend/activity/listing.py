"""Reads an asset's activity by time."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.activity import request_facts, rules
from backend.activity.entries import ENTRIES
from backend.activity.nouns import as_noun
from backend.activity.schemas import Activity, ActivityKind, ActivityList
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.chain_models import ChainRow
from backend.core.addresses import ZERO_ADDRESS
from backend.core.pagination import where_given
from backend.lists.pages import Listing, Page
from backend.requests import titles
from backend.users.models import UserRow
from backend.wallets import known_names

LIST = Listing(
    {"created_at": ENTRIES.c.created_at},
    tie=ENTRIES.c.id,
    names=(ENTRIES.c.name,),
    codes=(ENTRIES.c.id, ENTRIES.c.tx_hash, ENTRIES.c.giver, ENTRIES.c.receiver),
    is_fixed=True,
)


async def page(context: Context, page: Page, asset: Any, kind: ActivityKind | None) -> ActivityList:
    """Return a page of an asset's activity, newest first."""
    shown, paging = await page.read(context.session, _query(context, page, asset.id, kind))
    addresses = {address for row in shown for address in rules.addresses(row)}
    known = await known_names.known(context.session, context.organization_id, sorted(addresses))
    names = {address: one.name for address, one in known.items()}
    facts = await request_facts.of(context.session, [row.id for row in shown if rules.is_request(row)])
    return ActivityList(activity=_activity(context, shown, asset, names, facts), **paging)


def _query(context: Context, page: Page, asset_id: UUID, kind: ActivityKind | None) -> sa.Select[Any]:
    """Return the entries that the caller may read. `q` searches no title that the caller may not read."""
    person = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("person")
    query = (
        sa.select(ENTRIES, person, col(ChainRow.display_name).label("chain_name"))
        .outerjoin(UserRow, col(UserRow.id) == ENTRIES.c.created_by)
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == ENTRIES.c.chain_eid)
        .params(org=context.organization_id, asset=asset_id, zero=ZERO_ADDRESS)
    )
    if not {Scope.TRANSFERS_READ, Scope.TRANSFERS_WRITE} & set(context.scopes):
        query = query.where(ENTRIES.c.kind != ActivityKind.TRANSFER)
    if page.q:
        is_record = ENTRIES.c.id.is_distinct_from(ENTRIES.c.request_id)
        query = query.where(sa.or_(is_record, titles.readable(context, ENTRIES.c.code)))
    return where_given(query, (ENTRIES.c.kind, kind))


def _activity(
    context: Context, rows: Sequence[Any], asset: Any, names: Mapping[str, str | None], facts: Mapping[UUID, Any]
) -> list[Activity]:
    return [
        Activity(
            **{**row._mapping, **_done(context, facts.get(row.id)), "kind": ActivityKind(row.kind)},
            title=as_noun(titles.title_of(context.scopes, row.code, row.name))
            if rules.is_request(row)
            else rules.title(row, asset.symbol, asset.decimals, names),
            actor_name=_actor(context, row, names),
            from_name=rules.name(row.giver, names),
            to_name=rules.name(row.receiver, names),
        )
        for row in rows
    ]


def _done(context: Context, fact: Any) -> dict[str, Any]:
    """Return the chain, the transaction and the approver of an entry that is a request."""
    if fact is None:
        return {}
    approver = fact.approver if Scope.ORGS_READ in context.scopes else None
    return {
        "chain_eid": fact.chain_eid, "chain_name": fact.chain_name, "tx_hash": fact.tx_hash, "approver_name": approver,
    }  # fmt: skip


def _actor(context: Context, row: Any, names: Mapping[str, str | None]) -> str | None:
    """Return the person who requested an entry, or the wallet's name where it was not requested here."""
    if row.created_by is None:
        return names.get(row.actor)
    return row.person if Scope.ORGS_READ in context.scopes else None
