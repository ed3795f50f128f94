"""Prepare a claim that an investor signs with their own wallet. Anyone may send it: it pays the recipient."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import gas
from backend.auth.principal import Context
from backend.compliance.refusal import Refused
from backend.core.errors import Conflict, NotFound
from backend.distributions import claim_checks, proofs
from backend.investor_trading import instructions, senders
from backend.investor_trading.instructions import Money
from backend.investor_trading.schemas import InvestorClaimCreate, PreparedTransactions
from backend.investors import profile

_CLAIM = sa.text("""
  select d.name, d.asset_id, d.chain_eid, d.status, d.distributor_address, d.currency_address,
    coalesce(d.currency_symbol, a.symbol) as symbol, coalesce(d.currency_decimals, a.decimals) as decimals,
    r.index, r.address, r.amount, r.node, c.id is not null as claimed
  from distributions d join assets a on a.id = d.asset_id
    join distribution_recipients r on r.distribution_id = d.id and r.address = :address
      and r.address in (select signum_investor_addresses())
    left join distribution_claims c on c.distribution_id = d.id and c.index = r.index
  where d.id = :distribution and d.organization_id = :org
""")
_TREE = sa.text("select part, nodes from signum_investor_tree(:distribution, :parts)")


async def prepare(context: Context, distribution_id: UUID, body: InvestorClaimCreate) -> PreparedTransactions:
    """Return the transaction that claims an amount of a distribution; 404 if the investor has none there."""
    await senders.counted(context)
    row = await waiting(context, distribution_id, body.address)
    signer = await _signer(context, body.address)
    if refused := await claim_checks.refusals(context, row, row.address, int(row.amount)):
        raise Refused(refused)
    if (problem := await senders.lacking_gas(context, row.chain_eid, signer, gas.TRANSFER)) is not None:
        raise Conflict(problem)
    values = {"distribution": distribution_id, "parts": sorted(proofs.parts_of(row.node))}
    parts = {part.part: bytes(part.nodes) for part in await context.session.execute(_TREE, values)}
    amount = Money(int(row.amount), row.decimals, row.symbol)
    proof = proofs.path_of(row.node, parts)
    transaction = instructions.claim(row.distributor_address, row.index, row.address, amount, proof, row.name)
    return await senders.prepared(context, row.chain_eid, signer, [transaction])


async def _signer(context: Context, recipient: str) -> str:
    """Return the wallet that sends the claim: the recipient's, or else another one of the investor."""
    linked = await profile.linked(context)
    if not linked:
        raise Conflict(senders.UNLINKED)
    return recipient if recipient in linked else linked[0]


async def waiting(context: Context, distribution_id: UUID, address: str) -> Any:
    """Return an amount that waits for the investor; 404 if they have none there, 409 if it cannot be claimed."""
    values = {"distribution": distribution_id, "address": address, "org": context.organization_id}
    row = (await context.session.execute(_CLAIM, values)).one_or_none()
    if row is None:
        raise NotFound("You have no amount of this distribution at this address.")
    if row.claimed:
        raise Conflict("This amount was already claimed.")
    if row.status != "active":
        raise Conflict(f"The distribution is {row.status}. Amounts can be claimed while it is active.")
    return row
