"""Dates of date fields."""

from datetime import UTC, date, datetime, timedelta


def stamp(at: datetime | None) -> str:
    """Return a time as the API writes it (RFC 3339, UTC), which pages format; empty for None."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at else ""


def in_days(days: int) -> str:
    """Return the date that many days from today, in UTC."""
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def end_of(day: str) -> str | None:
    """Return the last second of a date in UTC, None for an empty field. Raises ValueError with a message."""
    if not day.strip():
        return None
    try:
        return f"{date.fromisoformat(day.strip()).isoformat()}T23:59:59Z"
    except ValueError:
        raise ValueError("Enter a date, such as 2027-06-30") from None
