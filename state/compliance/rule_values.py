"""Values of rule fields: times, counts and lock-ups."""

from calendar import monthrange
from datetime import UTC, datetime, time, timedelta

from state.core.units import plain


def moment(when: int) -> str:
    """Convert seconds to the value of a `datetime-local` field in UTC; empty for 0."""
    if not when:
        return ""
    at = datetime.fromtimestamp(when, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S" if at.second else "%Y-%m-%dT%H:%M")


def time_text(when: int) -> str:
    """Return a time in seconds as text."""
    return datetime.fromtimestamp(when, UTC).strftime("%-d %b %Y, %H:%M UTC")


def seconds(text: str) -> int:
    """Convert the value of a `datetime-local` field to seconds; 0 if it is empty. Raises ValueError with a message."""
    if not text:
        return 0
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise ValueError("Enter a date and time") from None


def count(text: str) -> int:
    """Parse a count. Raises ValueError with a message."""
    try:
        typed = plain(text) if text.strip() else "0"
    except ValueError:
        typed = ""
    if not typed.isdigit() or int(typed[:20]) >= 2**32:
        raise ValueError("Enter a whole number, 0 for no limit")
    return int(typed)


def after_months(months: int, now: datetime) -> str:
    """Return the first start of a day at which that many months have passed, as a field takes it; empty for 0. In a
    month without the day they end with the month."""
    if not months:
        return ""
    years, month = divmod(now.month - 1 + months, 12)
    year, month = now.year + years, month + 1
    day = datetime(year, month, min(now.day, monthrange(year, month)[1]), tzinfo=UTC)
    return moment(int((day + timedelta(days=now.time() > time.min)).timestamp()))
