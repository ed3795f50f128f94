"""Checks of an organization's allowed IP ranges."""

from backend.auth.principal import Context
from backend.core import ip_ranges
from backend.core.errors import Conflict
from backend.organizations.policies import check_person


def check_ip_ranges(context: Context, wanted: list[str]) -> list[str]:
    """Return the ranges to store. 403 for an API key or application, 422 for a duplicate range, 409 if no range
    contains the caller's own address, so that callers do not lock themselves out."""
    ip_ranges.check_distinct(wanted)
    check_person(context)
    if wanted and context.is_caller and not ip_ranges.contains(wanted, context.ip_address):
        seen = (
            f"Your IP address is {context.ip_address}"
            if context.ip_address
            else "Signum cannot determine your IP address"
        )
        raise Conflict(f"{seen}. These ranges do not contain it, so you would lose access. Add a range that does.")
    return wanted
