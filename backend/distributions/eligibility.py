"""The check of every recipient against the asset's rules, as the impact engine applies them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import affected_facts, holders, records
from backend.assets.models import AssetRow
from backend.assets.rules import NOTHING
from backend.assets.terms import terms_of, token_rules
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.devnet import clock
from backend.compliance import standings
from backend.compliance.impact_schemas import StandingSource
from backend.compliance.rules import Standing
from backend.compliance.standings import Wanted
from backend.core import db, threads
from backend.core.errors import Conflict
from backend.core.threads import Work
from backend.distributions.models import DistributionRow, RecipientRow
from backend.distributions.recipient_rules import Case, Reasons, judge, new_holders, split
from backend.distributions.recipients import Recipients
from backend.distributions.schemas import BlockedRecipients, RecipientCheck, RecipientsCheck
from backend.wallets.known_names import known

SHOWN = 200
"""Recipients of a check that are listed."""
NAMED = 100
"""Blocked recipients that a refusal names."""
_CONTRACTS = sa.text("""
    select market_address from markets
    where asset_id = :asset and chain_eid = :eid and market_address is not null
""")


class RecipientsBlocked(Conflict):
    """Conflict"""

    def __init__(self, checked: "Checked") -> None:
        self.checked, count = checked, len(checked.blocked)
        more = f" The first {NAMED} are listed." if count > NAMED else ""
        super().__init__(
            f"The asset's rules refuse {count} of {len(checked.judged)} recipients. Send blocked=exclude or "
            f"blocked=hold to pay the others.{more}"
        )

    def extensions(self) -> dict[str, object]:
        """Return the first blocked recipients with the reasons, as `errors`."""
        words = ((i, " ".join(self.checked.judged[i])) for i in self.checked.blocked[:NAMED])
        return {"errors": [{"pointer": f"/recipients/{i}", "detail": detail} for i, detail in words]}


@dataclass(frozen=True)
class Checked:
    """Recipients with the reasons against each; `block` is where the chain was read, None if the tables were."""

    recipients: Recipients
    judged: Sequence[Reasons]
    eligible: Recipients
    blocked: Sequence[int]
    block: int | None
    warnings: Sequence[str]


async def check(context: Context, asset_id: UUID, place: Place, recipients: Recipients, *, pays_asset: bool) -> Checked:
    """Return how the rules judge each recipient; caps count where the asset is paid out. Chains are queried: the
    session's transaction is paused."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    rules, count, holdings = await _rules(context, asset, place.eid)
    known, block = await _standings(context, place, rules, recipients)
    markets = await context.session.scalars(_CONTRACTS, {"asset": asset_id, "eid": place.eid})
    case = Case(
        rules,
        asset.symbol,
        asset.decimals,
        pays_asset=pays_asset,
        standings=known,
        holdings=holdings,
        treasuries=await affected_facts.treasuries(context.session, context.organization_id),
        contracts=frozenset([*markets, place.token]),
    )
    async with db.paused(context.session), threads.turn(Work.LISTS):
        judged = await threads.run(Work.LISTS, judge, case, recipients)
        eligible, blocked = await threads.run(Work.LISTS, split, recipients, judged)
    return Checked(recipients, judged, eligible, blocked, block, _warnings(case, eligible, count))


async def check_still(context: Context, place: Place, row: DistributionRow) -> None:
    """Raise Conflict (409) if the rules now refuse recipients of a draft that pays another currency: nothing on chain
    would refuse their claims."""
    stored = sa.select(col(RecipientRow.address), col(RecipientRow.amount))
    rows = await context.session.execute(
        stored.where(col(RecipientRow.distribution_id) == row.id).order_by(col(RecipientRow.index))
    )
    found = rows.all()
    recipients = Recipients([one.address for one in found], [int(one.amount) for one in found])
    checked = await check(context, row.asset_id, place, recipients, pays_asset=False)
    if checked.blocked:
        raise Conflict(
            f"The asset's rules now refuse {len(checked.blocked)} of {len(found)} recipients, and the currency has no "
            "rules of its own. Create a new distribution that holds or excludes them."
        )


async def _rules(context: Context, asset: AssetRow, eid: int) -> tuple[TokenRules, int, dict[str, int]]:
    """Return the rules on the chain, the number of its holders, and their holdings where a limit refers to them."""
    terms, session = terms_of(asset), context.session
    eids = records.sharing(await records.deployments(session, asset.id))
    has_caps = bool(terms.max_holders or int(terms.compliance_rules.max_tokens_per_holder))
    held = await holders.by_chain(session, context.organization_id, asset.id) if has_caps else NOTHING
    everyone = await holders.everyone(session, context.organization_id, asset.id) if has_caps else []
    holdings = {one.address: int(one.balance) for one in everyone if one.chain_eid == eid}
    return token_rules(terms, eids, eid, held), held.holders.get(eid, 0), holdings


async def _standings(
    context: Context, place: Place, rules: TokenRules, recipients: Recipients
) -> tuple[dict[str, tuple[Standing, Standing]], int | None]:
    """Return the standings that count, by address; from the tables if the list is longer than a chain is asked for."""
    if len(recipients.addresses) > standings.MOST:
        own = await standings.attested(context, place.eid)
        return {address: (one, one) for address, one in own.items()}, None
    found = await standings.read(context, {place.eid: Wanted(recipients.addresses, [rules])})
    accounts = (found.account(place.eid, address, rules) for address in recipients.addresses)
    return {one.address: (one.standing, one.own_standing) for one in accounts}, found.blocks[place.eid]


def _warnings(case: Case, eligible: Recipients, holders_now: int) -> list[str]:
    """Return what keeps eligible recipients from a claim, though not one recipient in particular."""
    said: list[str] = []
    if not case.pays_asset:
        return said
    if (end := case.rules.lockup_end_time) > clock.moment():
        said.append(f"Claims are refused until the lock-up ends on {datetime.fromtimestamp(end, UTC):%-d %B %Y}.")
    # The distributor holds the asset too.
    if most := case.rules.max_holders:
        new, room = new_holders(case, eligible), max(most - holders_now - 1, 0)
        if new > room:
            said.append(
                f"{new} recipients would be new holders. The chain's limit of {most} holders leaves room for {room}: "
                "later claims are refused."
            )
    return said


def chosen(checked: Checked | None, recipients: Recipients, blocked: BlockedRecipients) -> tuple[Recipients, list[int]]:
    """Return whom a distribution pays, and the positions of those who are held. Raises Conflict (409) if blocked
    recipients are refused, or if no one is left."""
    if checked is None or blocked is BlockedRecipients.INCLUDE or not checked.blocked:
        return recipients, []
    if blocked is BlockedRecipients.REFUSE:
        raise RecipientsBlocked(checked)
    if not checked.eligible.addresses:
        raise Conflict("The asset's rules refuse every recipient. Attest them first.")
    return checked.eligible, list(checked.blocked) if blocked is BlockedRecipients.HOLD else []


async def shown(context: Context, checked: Checked) -> RecipientsCheck:
    """Return the check in the API's form: blocked recipients first, and the largest list that a page shows."""
    every, is_blocked = checked.recipients, set(checked.blocked)
    others = (i for i in range(len(every.addresses)) if i not in is_blocked)
    listed = [*checked.blocked[:SHOWN], *islice(others, max(SHOWN - len(checked.blocked), 0))]
    names = await known(context.session, context.organization_id, [every.addresses[i] for i in listed])
    return RecipientsCheck(
        eligible=len(checked.eligible.addresses),
        blocked=len(checked.blocked),
        total_eligible=str(checked.eligible.total),
        total_blocked=str(every.total - checked.eligible.total),
        source=StandingSource.TABLES if checked.block is None else StandingSource.CHAIN,
        block=checked.block,
        warnings=list(checked.warnings),
        recipients=[
            RecipientCheck(
                index=i,
                address=every.addresses[i],
                name=names[every.addresses[i]].words,
                party_name=names[every.addresses[i]].party,
                wallet_label=names[every.addresses[i]].label,
                amount=str(every.amounts[i]),
                eligible=i not in is_blocked,
                reasons=list(checked.judged[i]),
            )
            for i in listed
        ],
    )
