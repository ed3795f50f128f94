"""What a report of an error may contain: the kinds of errors and where they occurred, never values."""

from collections.abc import Mapping
from typing import Any

KEPT = frozenset({"event_id", "level", "timestamp", "platform", "release", "environment", "logger", "tags", "sdk"})
"""Fields of an event that are sent as they are; they contain names of ours."""
FRAME = ("filename", "function", "module", "lineno", "in_app")
"""Fields of a frame. Variables and lines of source are not among them."""
HIDDEN = "(not sent)"


def scrubbed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event with what may be sent. Messages of errors can contain URLs, names and amounts, so they are left
    out, as are requests, people, machines, breadcrumbs and variables."""
    sent = {name: value for name, value in event.items() if name in KEPT}
    values = (event.get("exception") or {}).get("values") or []
    if values:
        sent["exception"] = {"values": [_exception(value) for value in values]}
    return sent


def _exception(value: Mapping[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames") or []
    kept = [{name: frame[name] for name in FRAME if name in frame} for frame in frames]
    return {"type": value.get("type"), "module": value.get("module"), "value": HIDDEN, "stacktrace": {"frames": kept}}
