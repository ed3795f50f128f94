"""Recipients outside the tree, whom the asset's rules refused: they are stored with the reasons, and listed."""

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.core.db import Write
from backend.distributions.eligibility import Checked
from backend.distributions.models import DistributionRow, HeldRecipientRow
from backend.distributions.schemas import HeldRecipient, HeldRecipientList
from backend.lists.pages import Listing, Page
from backend.lists.schemas import SortOrder
from backend.wallets.known_names import names_of

BATCH = 20_000
ROWS = sa.inspect(HeldRecipientRow).local_table
LIST = Listing({"index": ROWS.c.index}, tie=ROWS.c.index, codes=(ROWS.c.address,), is_fixed=True)
_INSERT = sa.text("""
  insert into distribution_held_recipients (organization_id, distribution_id, index, address, amount, reasons)
  select :organization, :distribution, r.index, r.address, cast(r.amount as numeric), r.reasons
  from unnest(
    cast(:indices as bigint[]), cast(:addresses as text[]), cast(:amounts as text[]), cast(:reasons as text[])
  ) as r (index, address, amount, reasons)
""")


async def store(session: Write, row: DistributionRow, checked: Checked, positions: Sequence[int]) -> None:
    """Write the held recipients of a new distribution: those at these positions of its list."""
    owner = {"organization": row.organization_id, "distribution": row.id}
    for first in range(0, len(positions), BATCH):
        some = positions[first : first + BATCH]
        values = {
            "indices": list(some),
            "addresses": [checked.recipients.addresses[i] for i in some],
            "amounts": [str(checked.recipients.amounts[i]) for i in some],
            "reasons": ["\n".join(checked.judged[i]) for i in some],
        }
        await session.execute(_INSERT, owner | values)


async def page(context: Context, distribution: DistributionRow, page: Page) -> HeldRecipientList:
    """Return a page of the held recipients, in the order of the list that was sent."""
    query = sa.select(ROWS.c.index, ROWS.c.address, ROWS.c.amount, ROWS.c.reasons)
    found = query.where(ROWS.c.distribution_id == distribution.id)
    shown, paging = await replace(page, order=SortOrder.ASC).read(context.session, found)
    names = await names_of(context.session, context.organization_id, [row.address for row in shown])
    return HeldRecipientList(
        recipients=[
            HeldRecipient(
                index=row.index,
                address=row.address,
                name=names[row.address],
                amount=str(int(row.amount)),
                reasons=row.reasons.split("\n"),
            )
            for row in shown
        ],
        **paging,
    )
