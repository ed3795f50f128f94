"""When a mail is tried again, and what a name may do in its text. Pure."""

import re
from datetime import timedelta

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (0.5, 2, 10, 30, 60, 2 * 60, 4 * 60, 8 * 60, 12 * 60, 24 * 60))
"""Between attempts: two days in all, which outlasts a weekend's maintenance and no invitation."""


def pause(attempts: int) -> timedelta | None:
    """How long to wait after this many attempts; None where that was the last one."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None


def unlinked(name: str) -> str:
    """A name as it stands in a mail to a stranger: mail programs make no link of what somebody has written into it,
    because an invisible word joiner stands behind each sign that links are told by. It reads the same."""
    return re.sub(r"(?<=\S)([.:/@])(?=\S)", "\\1\u2060", name)
