"""Decisions of an investor's pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Attested:
    """A valid attestation of an address."""

    kyc_level: int
    accredited: bool
    expires_at: datetime | None


def suffices(attested: Attested, level: int, accredited: bool) -> bool:
    """Return whether an attestation alone satisfies a required level and accreditation."""
    return attested.kyc_level >= level and (attested.accredited or not accredited)


def valid_until(rows: Iterable[Attested], level: int, accredited: bool) -> datetime | None:
    """Return when the last of the attestations that suffice expires; None if one of them does not, or none suffices."""
    ends = [row.expires_at for row in rows if suffices(row, level, accredited)]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def value(price: int, amount: int, decimals: int) -> int:
    """Return an amount's value in base units of the quote currency, rounded down."""
    return int(price * amount // 10**decimals)


def available(total: int, in_orders: int, frozen: int | None) -> int | None:
    """Return what can be moved; None where the frozen amount is unknown."""
    return None if frozen is None else max(total - in_orders - frozen, 0)


def frozen_part(held: int, frozen: int | None) -> int | None:
    """Return how much of what an address holds is frozen; a freeze may cover more. None where it is unknown."""
    return None if frozen is None else min(held, frozen)


def month_of(text: str) -> tuple[datetime, datetime]:
    """Return the start of a month (`2026-11`) in UTC, and that of the next one."""
    year, month = int(text[:4]), int(text[5:])
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC)


def months_between(first: datetime, last: datetime) -> list[str]:
    """Return every month from one time to a later one, in UTC."""
    found = [f"{first.astimezone(UTC):%Y-%m}"]
    while month_of(found[-1])[1] <= last:
        found.append(f"{month_of(found[-1])[1]:%Y-%m}")
    return found
