"""Recipients outside the tree, whom the asset's rules refused: stored with the reasons, listed, and released later."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import Conflict
from backend.distributions.eligibility import Checked
from backend.distributions.models import DistributionRow, HeldRecipientRow
from backend.distributions.recipients import Recipients
from backend.distributions.schemas import HeldRecipient, HeldRecipientList
from backend.lists.pages import Listing, Page
from backend.lists.schemas import SortOrder
from backend.wallets.known_names import known

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
_HELD = "distribution_held_recipients"
_PAYS = f"""
  exists (
    select from distributions d where d.id = {_HELD}.released_by and (d.status <> 'cancelled' or exists (
      select from distribution_claims c where c.distribution_id = d.id and c.address = {_HELD}.address)))
"""  # noqa: S608  (no text from outside is in it)
"""Whether a released recipient is paid by that distribution. Cancelled before the claim, it paid nothing."""
_WAITING = sa.text(f"""
  select index, address, amount from {_HELD} where distribution_id = :source and not {_PAYS} order by index
""")  # noqa: S608  (no text from outside is in it)
_RELEASE = sa.text(f"""
  update {_HELD} set released_by = :by
  where distribution_id = :source and index = any(cast(:indices as bigint[])) and not {_PAYS} returning index
""")  # noqa: S608  (no text from outside is in it)


@dataclass(frozen=True)
class Waiting:
    """The recipients who are held in a distribution, and their indices there."""

    indices: list[int]
    recipients: Recipients


async def waiting(context: Context, source: DistributionRow) -> Waiting:
    """Return the recipients whom no other distribution pays; 409 without any."""
    rows = (await context.session.execute(_WAITING, {"source": source.id})).all()
    if not rows:
        raise Conflict("No recipients are held in this distribution.")
    found = Recipients([row.address for row in rows], [int(row.amount) for row in rows])
    return Waiting([int(row[0]) for row in rows], found)


async def release(session: Write, source: UUID, by: DistributionRow, indices: Sequence[int]) -> None:
    """Note that a new distribution pays held recipients; 409 if another one pays one of them. The caller has locked the
    source."""
    released = await session.execute(_RELEASE, {"source": source, "by": by.id, "indices": list(indices)})
    if len(released.all()) != len(indices):
        raise Conflict("Some of these recipients were released in the meantime. Send the request again.")


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
    pays = sa.literal_column(f"case when {_PAYS} then {_HELD}.released_by end", sa.Uuid())
    query = sa.select(ROWS.c.index, ROWS.c.address, ROWS.c.amount, ROWS.c.reasons, pays.label("released_by"))
    found = query.where(ROWS.c.distribution_id == distribution.id)
    shown, paging = await replace(page, order=SortOrder.ASC).read(context.session, found)
    names = await known(context.session, context.organization_id, [row.address for row in shown])
    return HeldRecipientList(
        recipients=[
            HeldRecipient(
                index=row.index,
                address=row.address,
                name=names[row.address].words,
                party_name=names[row.address].party,
                wallet_label=names[row.address].label,
                amount=str(int(row.amount)),
                reasons=row.reasons.split("\n"),
                released_by=row.released_by,
            )
            for row in shown
        ],
        **paging,
    )
