"""The history of an asset's rules, as the indexer read it from `RulesSet` events."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import RuleSetRow
from backend.assets.schemas import RuleChange, RuleSet, RuleSetList, RulesOnChain
from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.lists.pages import Listing, Page
from backend.requests import titles

TABLE = sa.inspect(RuleSetRow).local_table
LIST = Listing.of(TABLE.c, "created_at", names=(col(ChainRow.display_name),), codes=(TABLE.c.tx_hash,))
_MADE = """
  select t.chain_eid, t.tx_hash, r.id, r.kind, r.title, coalesce(u.display_name, u.email) as name,
    r.arguments ->> 'reason' as reason
  from ({found}) t join requests r on r.id = t.request_id and r.organization_id = :org
  left join users u on u.id = r.created_by
"""


def _made(found: str) -> sa.TextClause:
    return sa.text(_MADE.format(found=found))


_SENT = _made("""
  select chain_eid, tx_hash, request_id from transactions where organization_id = :org and tx_hash = any(:hashes)
""")
_DELIVERED = _made("""
  select destination_chain_eid as chain_eid, destination_tx_hash as tx_hash, request_id from bridges
  where organization_id = :org and destination_tx_hash = any(:hashes)
""")
_REPLACED = _made("""
  select t.chain_eid, e ->> 'tx_hash' as tx_hash, t.request_id
  from transactions t cross join jsonb_array_elements(t.earlier) e
  where t.organization_id = :org and t.earlier <> '[]' and e ->> 'tx_hash' = any(:hashes)
""")


_EARLIER = TABLE.alias()
_PLACE, _EARLIER_PLACE = (sa.tuple_(of.c.block_number, of.c.log_index) for of in (TABLE, _EARLIER))
_BEFORE = (
    sa.select(_EARLIER.c.rules)
    .where(
        _EARLIER.c.asset_id == TABLE.c.asset_id,
        _EARLIER.c.chain_eid == TABLE.c.chain_eid,
        _EARLIER_PLACE < _PLACE,
    )
    .order_by(_EARLIER.c.block_number.desc(), _EARLIER.c.log_index.desc())
    .limit(1)
    .correlate(TABLE)
    .scalar_subquery()
)
"""The rules that the same token had before a row."""


async def page(context: Context, page: Page, asset_id: UUID) -> RuleSetList:
    """Return a page of an asset's rules, newest first."""
    query = (
        sa.select(*TABLE.c, _BEFORE.label("before"), col(ChainRow.display_name).label("chain_name"))
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == TABLE.c.chain_eid)
        .where(TABLE.c.asset_id == asset_id, TABLE.c.organization_id == context.organization_id)
    )
    shown, paging = await page.read(context.session, query)
    makers = await _makers(context, shown)
    return RuleSetList(rule_sets=[_rule_set(row, makers.get((row.chain_eid, row.tx_hash))) for row in shown], **paging)


async def _makers(context: Context, rows: Sequence[Any]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the request that wrote each row and who made it, by chain and transaction: the request of our transaction,
    also if a version with a lower fee was mined, or of the bridge whose packet carried the rules."""
    hashes = {row.tx_hash for row in rows}
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for query in (_SENT, _DELIVERED, _REPLACED):
        values = {"org": context.organization_id, "hashes": sorted(hashes)}
        for one in await context.session.execute(query, values):
            found[one.chain_eid, one.tx_hash] = {
                "request_id": one.id,
                "request_title": titles.title_of(context.scopes, one.kind, one.title),
                "changed_by_name": one.name,
                "reason": one.reason,
            }
        hashes -= {tx_hash for _, tx_hash in found}
        if not hashes:
            break
    return found


def _rule_set(row: Any, maker: dict[str, Any] | None) -> RuleSet:
    rules = RulesOnChain(**row.rules)
    return RuleSet(
        id=row.id,
        chain_eid=row.chain_eid,
        chain_name=row.chain_name,
        version=row.version,
        rules=rules,
        changes=_changes(row.before, rules),
        block_number=row.block_number,
        tx_hash=row.tx_hash,
        at=row.created_at,
        **(maker or {}),
    )


def _changes(before: dict[str, Any] | None, rules: RulesOnChain) -> list[RuleChange]:
    """Return the fields that changed; none for the first rules."""
    if before is None:
        return []
    now = rules.model_dump(mode="json")
    return [RuleChange(field=f, before=before.get(f), after=v) for f, v in now.items() if before.get(f) != v]
