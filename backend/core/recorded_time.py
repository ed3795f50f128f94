"""The time that records bear: the machine's, except while the demo's year is created.

The demo of an embedded installation has a history. While it is created, the chains' clocks and the times of records
are the same span behind the machine, so that blocks, requests, orders and the audit log agree, and the installation is
closed to people. Sessions, tokens, keys, factors and limits never follow this clock.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.db import now
from backend.core.runtime import runtime
from backend.core.settings import settings


@dataclass
class RecordedTime:
    """How far the records of this process are behind the machine's clock."""

    behind: timedelta = timedelta(0)


def recorded_now() -> datetime:
    """Return the time of a record that is written now, in UTC."""
    return now() - runtime.part(RecordedTime).behind


def is_in_the_past() -> bool:
    """Return whether the demo's year is being created."""
    return runtime.part(RecordedTime).behind > timedelta(0)


def stand_behind(behind: timedelta) -> None:
    """Set how far records are behind. Raises RuntimeError except in an embedded installation with the demo."""
    if behind < timedelta(0) or (behind and not settings().can_have_history):
        raise RuntimeError("only the demo of an embedded installation has a history")
    runtime.part(RecordedTime).behind = behind
