"""Whether recipients can claim now: what the token would answer to each claim."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from backend.assets import transfer_check
from backend.auth.principal import Context
from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.bindings import token
from backend.compliance.rules import failures
from backend.compliance.schemas import RuleVerdict, TransferCheck
from backend.core import db
from backend.core.errors import SignumError
from backend.distributions import eligibility
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients
from backend.distributions.schemas import DistributionStatus

CHECKED = 10_000
"""Recipients at the start of a list that are checked: an export of the list reads the chain for each page."""
PATIENCE = 4.0
"""Seconds that a chain has to answer."""
_BEFORE = (DistributionStatus.DRAFT, DistributionStatus.ACTIVATING)


async def reasons(context: Context, row: DistributionRow, recipients: Sequence[Any]) -> Mapping[int, list[str]]:
    """Return why recipients with open claims could not claim now, by index; without those that could not be checked:
    claimed ones, late ones in a long list, all of an ended distribution, and all if the chain does not answer.

    Before the activation the asset's rules decide, afterwards the token itself. A quote currency refuses no claim.
    """
    wanted = [one for one in recipients if not one.claimed and one.index < CHECKED]
    if not wanted or row.status not in (*_BEFORE, DistributionStatus.ACTIVE):
        return {}
    pays_asset = row.currency_address is None
    if row.status is DistributionStatus.ACTIVE and not pays_asset:
        return {one.index: [] for one in wanted}
    try:
        place = await transfer_check.place_of(context, row.asset_id, row.chain_eid)
        if row.status in _BEFORE or row.distributor_address is None:
            people = Recipients([one.address for one in wanted], [int(one.amount) for one in wanted])
            checked = await eligibility.check(context, row.asset_id, place, people, pays_asset=pays_asset)
            found = [list(words) for words in checked.judged]
        else:
            moves = [(row.distributor_address, one.address, int(one.amount)) for one in wanted]
            async with db.paused(context.session), asyncio.timeout(PATIENCE):
                codes = await token.check_transfers(place.eid, place.token, moves)
            found = [[f"{RESTRICTIONS[code].message}." for code in some] for some in codes]
    except (SignumError, TimeoutError):
        return {}
    return {one.index: words for one, words in zip(wanted, found, strict=True)}


async def refusals(context: Context, source: Any, address: str, amount: int) -> list[RuleVerdict]:
    """Return the rules of the token that refuse a payment now, read from the chain; none for a quote currency.

    `source` is an active distribution: its row, or `asset_id`, `chain_eid`, `currency_address` and
    `distributor_address` of it.
    """
    if source.currency_address is not None:
        return []
    place = await transfer_check.place_of(context, source.asset_id, source.chain_eid)
    payment = TransferCheck(
        chain_eid=source.chain_eid, from_address=source.distributor_address, to_address=address, amount=str(amount)
    )
    async with db.paused(context.session):
        verdicts, _ = await transfer_check.verdicts_of(place, payment)
    return failures(verdicts)
