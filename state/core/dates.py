"""Dates of date fields, and times in texts, in a person's time zone."""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MOMENT = re.compile(r"\b(\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d) UTC\b")
"""An exact time in a text of the API."""


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its IANA name; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def stamp(at: datetime | None) -> str:
    """Return a time as the API writes it (RFC 3339, UTC), which pages format; empty for None."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at else ""


def in_days(days: int, zone: tzinfo = UTC) -> str:
    """Return the date that many days from today in a time zone."""
    return (datetime.now(zone).date() + timedelta(days=days)).isoformat()


def start_of(day: date, zone: tzinfo) -> str:
    """Return the first moment of a day in a time zone, as the API takes it."""
    return _utc(datetime.combine(day, time.min, zone))


def end_of(day: str, zone: tzinfo = UTC) -> str | None:
    """Return the last second of a date in a time zone, None for an empty field. Raises ValueError with a message.

    Where the clock skips the day's last hour, `fold` gives the second before it; where it repeats it, the second time.
    """
    if not day.strip():
        return None
    try:
        return _utc(datetime.combine(date.fromisoformat(day.strip()), time(23, 59, 59, fold=1), zone))
    except (ValueError, OverflowError):
        raise ValueError("Enter a date, such as 2027-06-30") from None


def day_of(text: str) -> str:
    """Return a date such as `2027-06-30` as it is written, empty for anything else."""
    try:
        return date.fromisoformat(text.strip()[:10]).isoformat()
    except ValueError:
        return ""


def exact(at: datetime, zone: tzinfo) -> str:
    """Format an exact time: `20 Nov 2026, 12:14:05 UTC`."""
    at = at.astimezone(zone)
    name = at.tzname() or "UTC"
    return f"{at.day} {at:%b %Y, %H:%M:%S} {f'UTC{name}' if name.startswith(('+', '-')) else name}"


def times_in(words: str, zone: tzinfo) -> str:
    """Return a text of the API with its exact times in a time zone."""
    if zone is UTC:
        return words
    return MOMENT.sub(lambda found: _moved(found[0], found[1], zone), words)


def _moved(whole: str, words: str, zone: tzinfo) -> str:
    try:
        return exact(datetime.strptime(words, "%d %b %Y, %H:%M:%S").replace(tzinfo=UTC), zone)
    except (ValueError, OverflowError):
        return whole


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
