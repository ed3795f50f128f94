"""Results of a run: each repair in the audit log of its organization, and alarms for remaining differences."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets.models import DeploymentRow
from backend.chain import alarms
from backend.chain.models import AlarmKind
from backend.core import db
from backend.core.changes import publish
from backend.distributions.models import DistributionRow
from backend.issuers.models import IssuerWalletRow
from backend.markets.models import MarketRow
from backend.reconciliation import transactions
from backend.reconciliation.differences import Difference, contract_of

REPAIRED = "chain.repaired"
"""The action in the audit log."""
_CONTRACTS = {
    "token": ("asset", DeploymentRow, "token_address", "asset_id"),
    "balance": ("asset", DeploymentRow, "token_address", "asset_id"),
    "market": ("market", MarketRow, "market_address", "id"),
    "order": ("market", MarketRow, "market_address", "id"),
    "distribution": ("distribution", DistributionRow, "distributor_address", "id"),
    "attester": ("issuer", IssuerWalletRow, "address", "issuer_id"),
}
"""By kind of difference: the record's type in the audit log, and where to find it by address."""
_WHOLE = {
    "attester": ("attesters", "issuer registrations differ from the registry"),
    "attestation": ("attestations", "attestations differ from the registry"),
    transactions.TRANSACTION: ("transactions", "transactions ended differently on the chain than in the tables"),
    transactions.REQUEST: ("requests", "requests failed although their transactions succeeded; retry them"),
}
"""By kind of difference: the subject and text of the one alarm for all of them."""


async def note_repairs(repaired: Sequence[Difference]) -> None:
    """Write each repair to the audit log of its organization, with the tables' values before and after. Corrected
    transactions and requests are logged where they are corrected."""
    found: dict[tuple[str, str, str, int], list[Difference]] = defaultdict(list)
    for difference in repaired:
        if difference.kind not in (transactions.TRANSACTION, transactions.REQUEST):
            found[*await _record(difference), difference.organization_id, difference.chain_eid].append(difference)
    for (kind, record_id, organization_id, eid), theirs in found.items():
        before = {"chain_eid": eid} | {_field(one): one.table for one in theirs}
        after = {"chain_eid": eid} | {_field(one): one.chain for one in theirs}
        async with db.worker() as session:
            await publish(session, UUID(organization_id), REPAIRED, (kind, record_id), before, after)


async def _record(difference: Difference) -> tuple[str, str]:
    """Return kind and ID of the record that a difference belongs to."""
    if difference.kind not in _CONTRACTS:
        return difference.kind, difference.subject
    kind, table, address, key = _CONTRACTS[difference.kind]
    columns: Any = table
    query = sa.select(getattr(columns, key)).where(
        columns.chain_eid == difference.chain_eid, getattr(columns, address) == contract_of(difference)
    )
    async with db.worker() as session:
        return kind, str(await session.scalar(query.limit(1)))


def _field(difference: Difference) -> str:
    """Return the field that differed, and its account or order if the record has several."""
    part, of, _ = difference.subject.rpartition(" of ")
    if not of:
        return difference.what
    return f"{difference.what} of order {part}" if difference.kind == "order" else f"{difference.what} of {part}"


async def note_left(differences: Sequence[Difference], eids: Collection[int], *, opens: bool) -> None:
    """Close the alarms of some chains whose cause is gone, and open alarms for all remaining differences."""
    for eid in eids:
        found = alarms_of(one for one in differences if one.chain_eid == eid)
        async with db.worker() as session:
            for subject, detail in found.items() if opens else ():
                await alarms.sound(session, eid, AlarmKind.DIFFERENCE, f"{detail} {_what_to_do(eid)}", subject)
            await alarms.clear(session, eid, AlarmKind.DIFFERENCE, still_open=list(found))


def alarms_of(differences: Iterable[Difference]) -> dict[str, str]:
    """Return the alarms for some differences of a chain: subject to detail. They name contracts, and count the rest."""
    grouped: dict[str, list[Difference]] = defaultdict(list)
    for difference in differences:
        whole = _WHOLE.get(difference.kind)
        grouped[whole[0] if whole else contract_of(difference)].append(difference)
    return {subject: _detail(subject, theirs) for subject, theirs in grouped.items()}


def _detail(subject: str, differences: Sequence[Difference]) -> str:
    kind, fields = differences[0].kind, sorted({one.what for one in differences})
    if kind in _WHOLE:
        return f"{len({one.subject for one in differences})} {_WHOLE[kind][1]}."
    noun = {"balance": "token", "order": "market"}.get(kind, kind)
    return f"The {noun} {subject} differs from its tables in {', '.join(fields)}, and re-reading does not repair it."


def _what_to_do(eid: int) -> str:
    return f"Run signum reconcile --chain {eid} for the list."
