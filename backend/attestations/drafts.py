"""Drafts: attestations whose prerequisites are met, with everything that their requests need."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations import rules
from backend.attestations.models import AttestationRow
from backend.attestations.rules import Facts, PartyFacts, Statement
from backend.attestations.schemas import AttestationCreate, AttestationStatus
from backend.auth.principal import Context
from backend.chain.devnet import clock
from backend.chains import service as chains
from backend.core.errors import Conflict, PrerequisitesNotMet, SignumError
from backend.issuers.schemas import IssuerStatus
from backend.parties import service as parties
from backend.parties.models import PartyRow

_FACTS = sa.text("""
    select w.status as registration, w.address as attester, i.max_kyc_level,
      exists (select from organization_chains where organization_id = :org and chain_id = :chain) as is_enabled,
      exists (select from wallets where organization_id = :org and is_default) as has_server_wallet
    from (values (1)) one left join issuers i on i.organization_id = :org
      left join issuer_wallets w on w.organization_id = :org and w.chain_eid = :eid
""")
Place = tuple[int, str]
"""A chain's endpoint ID, and a wallet."""


@dataclass(frozen=True)
class Draft:
    """A locked party, its new attestation (not yet written), its chain, who signs it, and what it will replace."""

    party: PartyRow
    row: AttestationRow
    chain: Any
    attester: str
    replaced: UUID | None


async def one(context: Context, chain: Any, body: AttestationCreate, expires_at: datetime | None) -> Draft:
    """Return a draft. Raises 409 with all prerequisites if one is not met, 409 where another attestation of the wallet
    is pending, 400 for a statement that was not verified."""
    found = await parties.all_locked(context, [body.party_id])
    draft = _draft(context, chain, body, expires_at, found.get(body.party_id), await _known(context, chain))
    return _alone(draft, await _others(context, [draft.row]))


async def several(context: Context, items: Mapping[int, AttestationCreate]) -> dict[int, Draft]:
    """Return the drafts of those items for which `one` would not raise. All parties are locked in one order."""
    found = await parties.all_locked(context, {item.party_id for item in items.values()})
    at = clock.chain_now()
    places = {eid: await _place(context, eid) for eid in {item.chain_eid for item in items.values()}}
    drafts = dict[int, Draft]()
    for index, item in items.items():
        if (place := places[item.chain_eid]) is None:
            continue
        chain, known = place
        try:
            expires_at = rules.expiry(item.expires_at, at)
            drafts[index] = _draft(context, chain, item, expires_at, found.get(item.party_id), known)
        except SignumError:
            continue
    others = await _others(context, [draft.row for draft in drafts.values()])
    return {index: alone for index, draft in drafts.items() if (alone := _if_alone(draft, others))}


async def _place(context: Context, eid: int) -> tuple[Any, Any] | None:
    """Return a chain and the organization's facts there; None if it cannot be used."""
    try:
        chain = await chains.usable(context, eid)
    except SignumError:
        return None
    return chain, await _known(context, chain)


async def _known(context: Context, chain: Any) -> Any:
    asked = {"org": context.organization_id, "chain": chain.id, "eid": chain.xchain_eid}
    return (await context.session.execute(_FACTS, asked)).one()


def _draft(
    context: Context,
    chain: Any,
    body: AttestationCreate,
    expires_at: datetime | None,
    party: PartyRow | None,
    known: Any,
) -> Draft:
    entries = rules.prerequisites(
        Facts(
            organization_id=context.organization_id,
            chain_id=chain.id,
            chain_name=chain.display_name,
            party=PartyFacts(party.id, party.status, party.wallet_address is not None) if party else None,
            is_enabled=known.is_enabled,
            has_server_wallet=known.has_server_wallet,
            is_registered=known.registration == IssuerStatus.REGISTERED,
            is_registering=known.registration == IssuerStatus.PENDING,
        )
    )
    if party is None or not all(e["satisfied"] for e in entries):
        raise PrerequisitesNotMet(entries)
    proven = Statement(party.kyc_level, party.accredited)
    said = rules.statement((body.kyc_level, body.accredited), proven, known.max_kyc_level)
    row = AttestationRow(
        organization_id=context.organization_id,
        party_id=party.id,
        wallet_address=str(party.wallet_address),
        chain_eid=chain.xchain_eid,
        kyc_level=said.kyc_level,
        accredited=said.accredited,
        country=party.country,
        expires_at=expires_at,
    )
    return Draft(party, row, chain, known.attester, None)


async def _others(context: Context, rows: Collection[AttestationRow]) -> Mapping[Place, Sequence[Any]]:
    """Return the pending and active attestations of the same wallets on the same chains."""
    query = sa.select(
        col(AttestationRow.id),
        col(AttestationRow.status),
        col(AttestationRow.chain_eid),
        col(AttestationRow.wallet_address),
    ).where(
        col(AttestationRow.organization_id) == context.organization_id,
        col(AttestationRow.wallet_address).in_({row.wallet_address for row in rows}),
        col(AttestationRow.status).in_([AttestationStatus.PENDING, AttestationStatus.ACTIVE]),
    )
    found = dict[Place, list[Any]]()
    for row in await context.session.execute(query):
        found.setdefault((row.chain_eid, row.wallet_address), []).append(row)
    return found


def _alone(draft: Draft, others: Mapping[Place, Sequence[Any]]) -> Draft:
    """Return a draft with the active attestation that it will replace; 409 if another is pending."""
    found = others.get((draft.row.chain_eid, draft.row.wallet_address), ())
    if any(r.status is AttestationStatus.PENDING for r in found):
        raise Conflict("An attestation of this wallet on this chain is already pending. Wait until it finishes.")
    return replace(draft, replaced=next((r.id for r in found), None))


def _if_alone(draft: Draft, others: Mapping[Place, Sequence[Any]]) -> Draft | None:
    try:
        return _alone(draft, others)
    except Conflict:
        return None
