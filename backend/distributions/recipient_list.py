"""The list of a distribution's recipients."""

from dataclasses import replace

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.distributions import claim_checks
from backend.distributions.models import ClaimRow, DistributionRow, RecipientRow
from backend.distributions.schemas import Entitlement, EntitlementList
from backend.lists.pages import Listing, Page
from backend.lists.schemas import SortOrder
from backend.wallets.known_names import known

ROWS = sa.inspect(RecipientRow).local_table
LIST = Listing({"index": ROWS.c.index}, tie=ROWS.c.index, codes=(ROWS.c.address,), is_fixed=True)


async def page(
    context: Context,
    distribution: DistributionRow,
    page: Page,
    *,
    is_checked: bool = False,
    is_claimed: bool | None = None,
) -> EntitlementList:
    """Return a page of the recipients in the order of the list; none if the distribution has only a root. With
    `is_checked` also whether each can claim now; with `is_claimed` only those who have claimed, or have not."""
    page = replace(page, order=SortOrder.ASC)
    claimed = sa.exists().where(col(ClaimRow.distribution_id) == distribution.id, col(ClaimRow.index) == ROWS.c.index)
    query = sa.select(ROWS.c.index, ROWS.c.address, ROWS.c.amount, claimed.label("claimed"))
    query = query.where(ROWS.c.distribution_id == distribution.id)
    if is_claimed is not None:
        query = query.where(claimed if is_claimed else ~claimed)
    shown, paging = await page.read(context.session, query)
    names = await known(context.session, context.organization_id, [row.address for row in shown])
    why = await claim_checks.reasons(context, distribution, shown) if is_checked else {}
    recipients = [
        Entitlement(
            index=row.index,
            address=row.address,
            name=names[row.address].words,
            party_name=names[row.address].party,
            wallet_label=names[row.address].label,
            amount=str(int(row.amount)),
            claimed=row.claimed,
            cannot_claim=why.get(row.index),
        )
        for row in shown
    ]
    return EntitlementList(recipients=recipients, **paging)
