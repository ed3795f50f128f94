"""`signum erase party`: the record, documents and names of one party."""

from collections import Counter
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.audit.redaction import LOG, Erasure, Row, redact
from backend.core.db import Write
from backend.core.errors import CannotStart
from backend.erasures import columns, remains
from backend.erasures.report import Report, check_reason, refuse
from backend.erasures.texts import Eraser
from backend.parties.models import DocumentRow, FilePartRow, FileRow, PartyRow
from backend.parties.schemas import PartyStatus

ERASED = "Erased party"
_ATTESTATIONS = sa.text("""
  select t.id, t.status, coalesce(c.display_name, t.chain_eid::text) as chain
  from attestations t left join chains c on c.xchain_eid = t.chain_eid
  where t.party_id = :party and (
    t.status = 'pending' or t.status = 'active' and coalesce(t.expires_at > now(), true)) order by t.id
""")
_HOLDINGS = sa.text("""
  with moved as (
    select asset_id, chain_eid, balance as amount from token_balances where address = :wallet
    union all select m.asset_id, m.chain_eid, o.amount - o.filled from orders o join markets m on m.id = o.market_id
      where o.maker_address = :wallet and o.side = 'sell' and o.status in ('open', 'partial'))
  select a.symbol, coalesce(c.display_name, v.chain_eid::text) as chain
  from moved v join assets a on a.id = v.asset_id left join chains c on c.xchain_eid = v.chain_eid
  group by a.symbol, c.display_name, v.chain_eid having sum(v.amount) > 0 order by 1, 2
""")
_ORDERS = sa.text("select id from orders where maker_address = :wallet and status in ('pending', 'open', 'partial')")


async def erase(session: Write, party_id: UUID, reason: str) -> Report:
    """Erase a party in a transaction of the owner. Raises CannotStart where the law or a chain still needs it."""
    row = await session.get(PartyRow, party_id, with_for_update=True)
    if row is None:
        raise CannotStart(f"No party has the ID {party_id}.")
    report = Report(f"Party {party_id}")
    if row.name == ERASED:
        return report
    eraser = Eraser(ERASED, (row.name,), (row.email,) if row.email else ())
    check_reason(reason, eraser)
    refuse(await _needed(session, row))
    report.erased["parties"] = 1
    report.erased += await _documents(session, party_id)
    _empty(row)
    await session.flush()
    report.erased += await columns.erase(session, eraser, [row.organization_id])
    report.erased += await remains.erase(session, eraser, [row.organization_id])
    report.erased["audit_log"] += await _log(session, row, eraser, reason)
    report.kept = await _kept(session, row, eraser)
    return report


async def _needed(session: Write, row: PartyRow) -> list[str]:
    """Return why the party cannot be erased yet, each with the fix."""
    found = []
    for one in await session.execute(_ATTESTATIONS, {"party": row.id}):
        fix = "Wait until it is written" if one.status == "pending" else f"Revoke it first: signum revoke {one.id}"
        found.append(f"The party has a valid attestation on {one.chain}. {fix}.")
    if row.wallet_address:
        for one in await session.execute(_HOLDINGS, {"wallet": row.wallet_address}):
            found.append(f"The party's wallet holds {one.symbol} on {one.chain}. Move or redeem its balance first.")
        if orders := (await session.scalars(_ORDERS, {"wallet": row.wallet_address})).all():
            found.append(f"The party's wallet has {len(orders)} open orders. Cancel them first.")
    return found


def _empty(row: PartyRow) -> None:
    """Leave a rejected party without contact and wallet: it cannot be attested."""
    row.name, row.email, row.wallet_address = ERASED, None, None
    row.status, row.kyc_level, row.accredited, row.reason = PartyStatus.REJECTED, 0, False, ERASED


async def _documents(session: Write, party_id: UUID) -> Counter[str]:
    """Delete the documents, and their contents unless another party has the same file."""
    gone = sa.delete(DocumentRow).where(col(DocumentRow.party_id) == party_id)
    files = (await session.scalars(gone.returning(col(DocumentRow.file_id)))).all()
    shared = sa.exists().where(col(DocumentRow.file_id) == col(FileRow.id))
    unused = sa.select(col(FileRow.id)).where(col(FileRow.id).in_(files), ~shared)
    alone = (await session.scalars(unused)).all()
    await session.execute(sa.delete(FilePartRow).where(col(FilePartRow.file_id).in_(alone)))
    await session.execute(sa.delete(FileRow).where(col(FileRow.id).in_(alone)))
    return +Counter({"party_documents": len(files), "party_files": len(alone)})


async def _log(session: Write, row: PartyRow, eraser: Eraser, reason: str) -> int:
    party = str(row.id)

    def changed(entry: Row) -> Row:
        is_own = (entry["subject_type"], entry["subject_id"]) == ("party", party)
        left: Any = eraser.emptied if is_own else eraser.erased
        return {"before": left(entry["before"]), "after": left(entry["after"])}

    erasure = Erasure(row.organization_id, "party.erased", ("party", row.id), reason, changed)
    named = sa.or_(columns.mentions(LOG.c.before, eraser), columns.mentions(LOG.c.after, eraser))
    is_other = sa.and_(LOG.c.subject_type == "party", LOG.c.subject_id != party)
    return await redact(session, erasure, sa.or_(LOG.c.subject_id == party, sa.and_(named, ~is_other)))


async def _kept(session: Write, row: PartyRow, eraser: Eraser) -> list[str]:
    kept = ["the party's ID and country, and its audit entries without personal data"]
    attested = sa.text("select count(*) from attestations where party_id = :party")
    if count := await session.scalar(attested, {"party": row.id}):
        kept.append(f"{count} attestations with their wallet address: they are on the chain")
    account = sa.text("select count(*) from users where email = any(:emails)")
    if await session.scalar(account, {"emails": [email.lower() for email in eraser.emails]}):
        kept.append("an account with the party's email: `signum erase person` erases it")
    return [*kept, "backups, exports and evidence packs that were made before"]
