"""Time zones of the IANA database."""

import zoneinfo
from functools import cache

UTC = "UTC"
_UNUSABLE = {"Factory", "localtime"}
"""Names of the database that are no zone, and that browsers refuse."""


@cache
def time_zones() -> frozenset[str]:
    """Return the names of the IANA database on this machine, and UTC."""
    return frozenset(zoneinfo.available_timezones() - _UNUSABLE | {UTC})


def known_time_zone(name: str) -> str:
    """Return a name if it is one of the IANA database. Raises ValueError."""
    if name not in time_zones():
        raise ValueError("is not a time zone of the IANA database, such as Europe/Stockholm")
    return name
