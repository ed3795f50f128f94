"""The last verification of all audit logs on this machine (`signum audit verify`)."""

import json
import time
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest

NAME = "audit_verification.json"


def note(home: Path, *, is_whole: bool) -> None:
    """Record a verification that has ended now."""
    draft = home / f".{NAME}"
    if home.is_dir():
        draft.write_text(json.dumps({"at": time.time(), "is_whole": is_whole}))
        draft.replace(home / NAME)


def text(home: Path) -> bytes:
    """Return its time and result in Prometheus' text format; both are 0 before the first one."""
    try:
        known = json.loads((home / NAME).read_text())
    except (OSError, ValueError):
        known = {"at": 0, "is_whole": False}
    registry = CollectorRegistry()
    for name, words, value in (
        ("signum_audit_verified_timestamp_seconds", "Time of the last verification of all audit logs.", known["at"]),
        ("signum_audit_intact", "1 if it found every audit log intact, else 0.", known["is_whole"]),
    ):
        Gauge(name, words, registry=registry).set(float(value))
    return bytes(generate_latest(registry))
