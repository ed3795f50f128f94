"""Processors of log lines: the ids of the request and the trace, and counts by level."""

import sys
from collections import Counter
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from backend.core.runtime import runtime

LEVELS = ("warning", "error", "critical")
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""ID of the API request that this work belongs to; in workflows, of the one that enqueued them."""
trace_id: ContextVar[str | None] = ContextVar("trace_id", default=None)
"""ID of the trace that this work belongs to, 32 hexadecimal digits."""


@dataclass
class LineCounts:
    """Log lines of this process by level."""

    of: Counter[str] = field(default_factory=Counter)


Report = Callable[[BaseException, str], None]


@dataclass
class Reports:
    """What gets each error that is logged with its traceback; None by default."""

    to: Report | None = None


def report(to: Report | None) -> None:
    """Set what gets each error that is logged with its traceback."""
    runtime.part(Reports).to = to


def reports() -> bool:
    """Return whether something gets them."""
    return runtime.part(Reports).to is not None


def pass_on(_: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Pass the error of a line on, before its traceback becomes text."""
    given, to = event.get("exc_info"), runtime.part(Reports).to
    if given and to is not None and method in ("error", "exception", "critical"):
        error = given if isinstance(given, BaseException) else sys.exc_info()[1]
        if isinstance(given, tuple):
            error = given[1]
        if error is not None:
            to(error, str(event.get("event", "")))
    return event


def count(_: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Count a line that reports a problem."""
    level = "error" if method == "exception" else method
    if level in LEVELS:
        runtime.part(LineCounts).of[level] += 1
    return event


def add_ids(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the ids of the request and the trace, unless the line has its own."""
    for name, variable in (("request_id", request_id), ("trace_id", trace_id)):
        if (value := variable.get()) is not None:
            event.setdefault(name, value)
    return event
