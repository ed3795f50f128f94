"""Days as date fields give and take them."""

from datetime import UTC, date, datetime, timedelta


def in_days(days: int) -> str:
    """The day so many days from today, in UTC."""
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def end_of(day: str) -> str | None:
    """The last second of a day in UTC, None for an empty field. Raises ValueError, in words for the field."""
    if not day.strip():
        return None
    try:
        return f"{date.fromisoformat(day.strip()).isoformat()}T23:59:59Z"
    except ValueError:
        raise ValueError("Write a day, such as 2027-06-30") from None
