"""Rules of distributions. Pure functions."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from backend.core.errors import BadRequest, Conflict, Invalid
from backend.distributions.schemas import SOURCES, DistributionActivate, DistributionCreate, DistributionStatus

DRAFT, CANCELLED = DistributionStatus.DRAFT, DistributionStatus.CANCELLED


@dataclass(frozen=True, slots=True)
class Terms:
    """What is or would be activated; root and count are `None` until they are known."""

    chain_eid: int
    merkle_root: str | None
    total_recipients: int | None


@dataclass(frozen=True, slots=True)
class Payout:
    """What an activation sends to the chain: the root, the number of recipients, and the sum in base units."""

    merkle_root: str
    total_recipients: int
    total_amount: int

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Payout":
        """Read a payout from the arguments of a request."""
        amount = int(arguments["total_amount"])
        return cls(arguments["merkle_root"], arguments["total_recipients"], amount)

    def stored(self) -> dict[str, Any]:
        """Return the payout as arguments of a request."""
        return asdict(self) | {"total_amount": str(self.total_amount)}


def check_is_current(request_id: UUID, current: UUID | None) -> None:
    """Raise 409 if a newer activation of the distribution was requested, perhaps with another root."""
    if request_id != current:
        raise Conflict("The distribution was activated by a newer request. Retry that one.")


def check_same_status(asked: str | None, status: DistributionStatus) -> None:
    """Raise 409 if a distribution's status has changed since its cancellation was requested."""
    if asked is not None and status not in (asked, CANCELLED):
        raise Conflict(f"The distribution was {asked} and is now {status}. Request the cancellation again.")


def check_source(body: DistributionCreate) -> None:
    """Raise 422 if more than one of the four sources is given. With none, the activation brings the root, and later
    transfers fund it."""
    given = [name for name in SOURCES if getattr(body, name) is not None]
    if len(given) > 1:
        detail = "is one of four: send recipients, holders, held_of, or total_amount alone"
        raise Invalid([{"pointer": f"/{name}", "detail": detail} for name in given])
    if body.total_amount is not None and int(body.total_amount) == 0:
        raise Invalid([{"pointer": "/total_amount", "detail": "must be above 0"}])


def check_releases(status: DistributionStatus) -> None:
    """Raise 409 if held recipients of a distribution cannot be released: before it is active, or after it was
    cancelled."""
    if status not in (DistributionStatus.ACTIVE, DistributionStatus.COMPLETED):
        raise Conflict(
            f"The distribution is {status}. Its held recipients can be released while it is active or completed."
        )


def shares(total: int, holdings: Mapping[str, int]) -> dict[str, int]:
    """Split `total` in proportion to holdings. The remainder after rounding down goes, one base unit each, to the
    holders whose exact share lost most (on a tie, to the lower address); holders with a share of zero are omitted."""
    held = sum(holdings.values())
    exact = {who: divmod(total * amount, held) for who, amount in holdings.items() if amount}
    left = total - sum(part for part, _ in exact.values())
    first = sorted(exact, key=lambda who: (-exact[who][1], who.lower()))[:left]
    parts = {who: part for who, (part, _) in exact.items()} | {who: exact[who][0] + 1 for who in first}
    return {who: part for who, part in parts.items() if part}


def is_repeated(status: DistributionStatus, own: Terms, body: DistributionActivate) -> bool:
    """Return whether this activation was accepted before. 409 if a different one was, or the distribution has ended."""
    if status is DRAFT:
        return False
    if status is CANCELLED:
        raise Conflict("The distribution is cancelled. Create a new one.")
    if own != Terms(body.chainEid, body.merkleRoot, body.totalRecipients):
        raise Conflict(
            f"The distribution is already {status}, with another chain, root or number of recipients. Create a new one."
        )
    return True


def check_terms(own: Terms, body: DistributionActivate, has_recipients: bool) -> None:
    """Raise 400 if the activation does not match the distribution."""
    if body.chainEid != own.chain_eid:
        raise BadRequest("The distribution is on another chain. Send its chain_eid as chainEid.", pointer="/chainEid")
    if not has_recipients:
        return
    if body.merkleRoot != own.merkle_root:
        raise BadRequest(
            "The root does not match the distribution's recipients. Send its merkle_root as merkleRoot.",
            pointer="/merkleRoot",
        )
    if body.totalRecipients != own.total_recipients:
        raise BadRequest(
            f"The distribution has {own.total_recipients} recipients. Send this number.", pointer="/totalRecipients"
        )


def check_cancellable(status: DistributionStatus) -> None:
    """Raise 409 if there is nothing to cancel, or not yet."""
    if status is DistributionStatus.ACTIVATING:
        raise Conflict("The distribution is being activated. Wait until that finishes.")
    if status not in (DRAFT, DistributionStatus.ACTIVE):
        raise Conflict(f"The distribution is {status}. Only a draft or an active one can be cancelled.")


def check_payable(status: DistributionStatus, is_claimed: bool) -> None:
    """Raise 409 if an amount was already paid, or cannot be paid now."""
    if is_claimed:
        raise Conflict("This amount was already claimed.")
    if status is not DistributionStatus.ACTIVE:
        raise Conflict(f"The distribution is {status}. Amounts can be claimed while it is active.")


def check_deletable(status: DistributionStatus, has_requests: bool) -> None:
    """Raise 409 if a distribution is not a draft, or if requests refer to it."""
    if status is not DRAFT:
        raise Conflict(f"The distribution is {status}. Only a draft can be deleted.")
    if has_requests:
        raise Conflict("A request of this draft is in its history. Cancel the distribution instead.")
