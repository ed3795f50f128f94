"""The files of the evidence, each written in pieces from the API's own answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

from backend.assets import history, holders_at, listing, records
from backend.assets.holders import LIST as HOLDERS
from backend.assets.holders_at import Moment
from backend.assets.schemas import Holder
from backend.assets.terms import terms_of
from backend.attestations import listing as attestations
from backend.audit import service as audit
from backend.audit.service import Filter
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.evidence import token_states
from backend.evidence.schemas import ChainState
from backend.exports import csv_lists
from backend.lists.pages import Listing, Page

ROWS = 100
"""Records read per query."""
NOW = ("eligible", "reasons")
"""Fields of a holder that are of now, and not of a block."""


@dataclass(frozen=True)
class Section:
    """A file: its path in the archive, the scope it needs, and its writer."""

    path: str
    needs: Scope
    pieces: Callable[[], AsyncIterator[str]]


def of(context: Context, asset_id: UUID, moments: list[Moment]) -> list[Section]:
    """Return every file about an asset, in the order of the archive."""
    return [
        Section("asset.json", Scope.ASSETS_READ, lambda: _asset(context, asset_id)),
        Section("chains.json", Scope.ASSETS_READ, lambda: _chains(context, moments)),
        Section("rules.json", Scope.ASSETS_READ, lambda: _rules(context, asset_id, moments)),
        Section("rules-history.json", Scope.ASSETS_READ, lambda: _history(context, asset_id)),
        *(Section(f"holders-{m.eid}-{m.block}.csv", Scope.ASSETS_READ, _holders(context, m)) for m in moments),
        Section("attestations.json", Scope.ATTESTATIONS_READ, lambda: _attestations(context, asset_id)),
        Section("audit.json", Scope.ORGS_READ, lambda: _audit(context, asset_id)),
    ]


async def _asset(context: Context, asset_id: UUID) -> AsyncIterator[str]:
    async with context.in_later_read() as now:
        yield _json((await listing.one(now, asset_id)).model_dump(mode="json"))


async def _rules(context: Context, asset_id: UUID, moments: list[Moment]) -> AsyncIterator[str]:
    """Write the organization's rules, and each token's rules as read from its chain at the block."""
    async with context.in_later_read() as now:
        asked = terms_of(await records.asset(now.session, now.organization_id, asset_id))
    chains = []
    for moment in moments:
        state = await token_states.read(moment.eid, moment.token, moment.block)
        chains.append(
            {
                "chain_eid": moment.eid,
                "token_address": moment.token,
                "version": state.rules_version,
                "in_force": state.rules,
            }
        )
    yield _json({"asked_for": asked.model_dump(mode="json"), "chains": chains})


async def _chains(context: Context, moments: list[Moment]) -> AsyncIterator[str]:
    """Write the state of each token at its block, from its chain."""
    async with context.in_later_read() as now:
        names = await records.chain_names(now.session)
    found = []
    for moment in moments:
        state = await token_states.read(moment.eid, moment.token, moment.block)
        found.append(
            ChainState(
                chain_eid=moment.eid,
                chain_name=names.get(moment.eid, f"Chain {moment.eid}"),
                token_address=moment.token,
                block=moment.block,
                block_hash=state.block_hash,
                block_time=state.block_time,
                supply=None if state.supply is None else str(state.supply),
                rules_version=state.rules_version,
                rules_sha256=state.rules_sha256,
            ).model_dump(mode="json")
        )
    yield _json(found)


Read = Callable[[Context, Page], Awaitable[tuple[list[Any], str | None]]]


async def _array(context: Context, listing: Listing, read: Read) -> AsyncIterator[str]:
    """Write a JSON array of every page's records, one per line."""
    cursor, between = "", "[\n"
    while cursor is not None:
        page = listing.whole(cursor or None, ROWS)
        async with context.in_later_read() as now:
            found, following = await read(now, page)
        for record in found:
            yield between + orjson.dumps(_plain(record)).decode()
            between = ",\n"
        if following is None:
            break
        cursor = following
    yield "[]\n" if between == "[\n" else "\n]\n"


def _history(context: Context, asset_id: UUID) -> AsyncIterator[str]:
    async def read(now: Context, page: Page) -> tuple[list[Any], str | None]:
        found = await history.page(now, page, asset_id)
        return list(found.rule_sets), found.nextCursor

    return _array(context, history.LIST, read)


def _attestations(context: Context, asset_id: UUID) -> AsyncIterator[str]:
    async def read(now: Context, page: Page) -> tuple[list[Any], str | None]:
        found, following = await attestations.of_holders(now, asset_id, page)
        return list(found), following

    return _array(context, attestations.LIST, read)


def _audit(context: Context, asset_id: UUID) -> AsyncIterator[str]:
    """Write changes of the asset itself and their actors; each entry with its hash and the previous entry's."""

    async def read(now: Context, page: Page) -> tuple[list[Any], str | None]:
        found = await audit.page(now, page, Filter(subject=str(asset_id)))
        return list(found.audit), found.nextCursor

    return _array(context, audit.LIST, read)


def _holders(context: Context, moment: Moment) -> Callable[[], AsyncIterator[str]]:
    async def pieces() -> AsyncIterator[str]:
        columns = [path for path in csv_lists.columns(Holder) if path[0] not in NOW]
        yield csv_lists.written([[".".join(path) for path in columns]])
        cursor: str | None = ""
        while cursor is not None:
            async with context.in_later_read() as now:
                page = await holders_at.page(now, moment, HOLDERS.whole(cursor or None, ROWS))
            plain = [_plain(holder) for holder in page.holders]
            yield csv_lists.written([[csv_lists.cell(record[path[0]]) for path in columns] for record in plain])
            cursor = page.nextCursor

    return pieces


def _plain(record: BaseModel) -> dict[str, Any]:
    return record.model_dump(mode="json", by_alias=True)


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"
