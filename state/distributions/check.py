"""The check of a new distribution's recipients: who is eligible, who is not and why, and what happens to the latter."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import reflex as rx

from backend.approvals.schemas import ArgumentAccount
from backend.compliance.impact_schemas import StandingSource
from backend.distributions.schemas import (
    BlockedRecipients,
    DistributionPlan,
    Entitlement,
    HeldRecipient,
    RecipientCheck,
    RecipientsCheck,
)
from state.core.arguments import one_of
from state.core.events import Next

LONGEST = 500_000
"""Characters of a plan that the browser hands over."""
TREATMENTS = (BlockedRecipients.HOLD, BlockedRecipients.EXCLUDE)
KINDS = ("eligible", "blocked")


@dataclass
class RecipientView:
    """A checked recipient; the amount in base units."""

    index: int = 0
    address: str = ""
    name: str = ""
    wallet: str = ""
    """The wallet behind the name, in words; empty if there is nothing to say."""
    amount: str = "0"
    eligible: bool = False
    why: str = ""
    paid_by: str = ""
    """The distribution that pays a released recipient."""


class ShowsCheck(rx.State, mixin=True):
    """Mixin of a page that checks recipients. `treatment` is what happens to the blocked ones."""

    is_checked: bool = False
    eligible: int = 0
    blocked: int = 0
    total: str = "0"
    total_blocked: str = "0"
    warnings: list[str] = []
    source_words: str = ""
    recipients: list[RecipientView] = []
    kind: str = ""
    treatment: str = BlockedRecipients.HOLD.value

    @rx.var
    def listed(self) -> list[RecipientView]:
        """Return the listed recipients: all, the eligible or the blocked ones."""
        return [one for one in self.recipients if self.kind in ("", KINDS[0] if one.eligible else KINDS[1])]

    @rx.var
    def unlisted(self) -> int:
        """Return how many recipients are not listed."""
        return max(self.eligible + self.blocked - len(self.recipients), 0)

    @rx.event
    def list_kind(self, kind: str) -> None:
        """List the eligible or the blocked recipients, or all."""
        self.kind = one_of(kind, KINDS)

    @rx.event
    def download(self) -> Next:
        """Download the listed recipients with the verdicts as CSV."""
        return rx.download(data=csv_of(self.recipients), filename="recipients-checked.csv", mime_type="text/csv")

    @rx.event
    def treat(self, treatment: str) -> None:
        """Choose what happens to blocked recipients."""
        self.treatment = one_of(treatment, TREATMENTS, BlockedRecipients.HOLD)

    def _take(self, plan: DistributionPlan, chain: str) -> None:
        """Show a plan's check. The chain is that of the distribution."""
        if plan.check is None:
            return
        check = plan.check
        self.is_checked, self.kind = True, ""
        self.eligible, self.blocked = check.eligible, check.blocked
        self.total, self.total_blocked = _units(check.total_eligible), _units(check.total_blocked)
        self.warnings, self.source_words = check.warnings, source_of(check, chain)
        self.recipients = [recipient_view(one) for one in check.recipients]

    def _forget_check(self) -> None:
        self.is_checked, self.kind, self.recipients = False, "", []
        self.eligible = self.blocked = 0
        self.total, self.total_blocked = "0", "0"


def csv_of(rows: Sequence[RecipientView]) -> str:
    """Return checked recipients as CSV, in the order of the list; amounts are base units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("index", "address", "name", "amount", "eligible", "reasons"))
    for one in sorted(rows, key=lambda row: row.index):
        eligible = "true" if one.eligible else "false"
        writer.writerow((one.index, one.address, _plain(one.name), one.amount, eligible, _plain(one.why)))
    return out.getvalue()


def _plain(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def plan_of(text: str) -> DistributionPlan | None:
    """Return the plan that the browser received from the API; None if the text is not one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        return DistributionPlan.model_validate_json(text)
    except ValueError:
        return None


def source_of(check: RecipientsCheck, chain: str) -> str:
    """Return where the attestations were read, as text."""
    if check.source is StandingSource.TABLES or check.block is None:
        return f"Judged by your own attestations on {chain}; other issuers' were not considered."
    return f"Judged by the attestations on {chain} at block {check.block:,}."


def recipient_view(one: RecipientCheck) -> RecipientView:
    """Convert the API's checked recipient."""
    return RecipientView(
        index=one.index,
        address=one.address,
        name=named(one)[0],
        wallet=named(one)[1],
        amount=_units(one.amount),
        eligible=one.eligible,
        why=" ".join(one.reasons),
    )


def named(one: RecipientCheck | Entitlement | HeldRecipient | ArgumentAccount) -> tuple[str, str]:
    """Return an account's name and wallet in words: the party before its wallet, the wallet before its kind. A wallet
    that is called like its party is not named."""
    kind = one.name.partition(' "')[0]
    if one.party_name:
        is_named = one.wallet_label and not one.wallet_label.startswith(one.party_name)
        return one.party_name, f'wallet "{one.wallet_label}"' if is_named else ""
    if one.wallet_label:
        return one.wallet_label, kind
    return one.name[:1].upper() + one.name[1:], ""


def _units(text: str) -> str:
    return text if text.isascii() and text.isdecimal() and len(text) < 80 else "0"
