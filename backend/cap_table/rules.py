"""Shares of holdings. Pure functions."""

BPS = 10_000


def share(part: int, whole: int) -> int:
    """Return a share in hundredths of a percent, rounded half up; 0 of nothing."""
    return (2 * part * BPS + whole) // (2 * whole) if whole else 0
