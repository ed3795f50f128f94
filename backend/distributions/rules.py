"""Decisions about distributions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.distributions.schemas import DistributionActivate, DistributionCreate, DistributionStatus
from backend.errors import BadRequest, Conflict, Invalid

DRAFT, CANCELLED = DistributionStatus.DRAFT, DistributionStatus.CANCELLED


@dataclass(frozen=True, slots=True)
class Terms:
    """What is or would be activated; root and count are None until they are known."""

    chain_eid: int
    merkle_root: str | None
    total_recipients: int | None


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
