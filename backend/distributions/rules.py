"""Decisions about distributions. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from backend.distributions.schemas import DistributionActivate, DistributionCreate, DistributionStatus
from backend.errors import BadRequest, Conflict, Invalid

DRAFT, CANCELLED = DistributionStatus.DRAFT, DistributionStatus.CANCELLED


@dataclass(frozen=True, slots=True)
class Terms:
    """What is or would be activated; root and count are None until they are known."""

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
    """409 where a distribution's activation was requested again since, perhaps with another root."""
    if request_id != current:
        raise Conflict("The distribution was activated by a newer request. Retry that one.")


def check_same_status(asked: str | None, status: DistributionStatus) -> None:
    """409 where a distribution is in another status than when its cancellation was requested."""
    if asked is not None and status not in (asked, CANCELLED):
        raise Conflict(f"The distribution was {asked} and is now {status}. Request the cancellation again.")


def check_source(body: DistributionCreate) -> None:
    """422 where more than one of the three says who gets what. None of them: the root comes with the activation, and
    the means by transfers after it."""
    given = [name for name in ("recipients", "holders", "total_amount") if getattr(body, name) is not None]
    if len(given) > 1:
        detail = "is one of three: recipients, holders, or total_amount alone"
        raise Invalid([{"pointer": f"/{name}", "detail": detail} for name in given])
    if body.total_amount is not None and int(body.total_amount) == 0:
        raise Invalid([{"pointer": "/total_amount", "detail": "is above 0"}])


def shares(total: int, holdings: Mapping[str, int]) -> dict[str, int]:
    """The whole of `total` in proportion to holdings. What rounding down leaves goes, a base unit each, to those whose
    exact share it cut most (of equals, to the lower address); who would get nothing is left out."""
    held = sum(holdings.values())
    exact = {who: divmod(total * amount, held) for who, amount in holdings.items() if amount}
    left = total - sum(part for part, _ in exact.values())
    first = sorted(exact, key=lambda who: (-exact[who][1], who.lower()))[:left]
    parts = {who: part for who, (part, _) in exact.items()} | {who: exact[who][0] + 1 for who in first}
    return {who: part for who, part in parts.items() if part}


def is_repeated(status: DistributionStatus, own: Terms, body: DistributionActivate) -> bool:
    """Whether this activation was accepted before. 409 where another one was, or the distribution has ended."""
    if status is DRAFT:
        return False
    if status is CANCELLED:
        raise Conflict("The distribution is cancelled.")
    if own != Terms(body.chainEid, body.merkleRoot, body.totalRecipients):
        raise Conflict(f"The distribution is {status} with another chain, root or count.")
    return True


def check_terms(own: Terms, body: DistributionActivate, has_recipients: bool) -> None:
    """400 where the activation is of something else than the distribution."""
    if body.chainEid != own.chain_eid:
        raise BadRequest("The distribution is on another chain.", pointer="/chainEid")
    if not has_recipients:
        return
    if body.merkleRoot != own.merkle_root:
        raise BadRequest("This is not the root of the distribution's recipients.", pointer="/merkleRoot")
    if body.totalRecipients != own.total_recipients:
        raise BadRequest(f"The distribution has {own.total_recipients} recipients.", pointer="/totalRecipients")


def check_cancellable(status: DistributionStatus) -> None:
    """409 where there is nothing to cancel, or not yet."""
    if status is DistributionStatus.ACTIVATING:
        raise Conflict("The distribution is being activated; wait for that to end.")
    if status not in (DRAFT, DistributionStatus.ACTIVE):
        raise Conflict(f"The distribution is {status}.")
