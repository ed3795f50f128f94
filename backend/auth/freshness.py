"""How long a second factor or another proof of identity counts as fresh."""

from datetime import datetime, timedelta

FRESH = timedelta(minutes=5)
"""How long a proof is fresh."""


def is_fresh(shown_at: datetime | None, now: datetime) -> bool:
    """Return whether a proof of that time is still fresh."""
    return shown_at is not None and now - shown_at < FRESH
