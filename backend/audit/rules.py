"""The hash chain. Pure functions.

An entry's hash is the SHA-256 of its canonical JSON, which contains the hash of the previous entry: altering, inserting
or deleting an entry breaks every later hash. The first entry's `previous_hash` is 64 zeros.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

GENESIS = "0" * 64
"""`previous_hash` of an organization's first entry."""
ERASURES = frozenset({"party.erased", "user.erased"})
"""Actions of entries that erased personal data from earlier ones. `after.entries` lists these with the hash of the
rest of each, so that an erased entry can be verified too."""


def canonical(value: Any) -> bytes:
    """Return JSON as RFC 8785 defines it: members sorted by name, no white space, UTF-8 with minimal escapes.

    Names are ASCII and numbers are integers here, so Python's order and digits match the RFC; amounts, which may exceed
    2^53, are text.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def content(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashed content of a row, in the API's form. `row` has the columns of the log."""
    return {
        "organization_id": str(row["organization_id"]),
        "seq": row["seq"],
        "at": moment(row["at"]),
        "actor": str(row["actor"]) if row["actor"] else None,
        "credential": row["credential"],
        "action": row["action"],
        "subject": {"type": row["subject_type"], "id": row["subject_id"]},
        "before": row["before"],
        "after": row["after"],
        "request_id": row["request_id"],
        "address": row["address"],
        "previous_hash": row["previous_hash"],
    }


def moment(time: datetime) -> str:
    """Return a time in the API's form."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def hash_of(row: Mapping[str, Any]) -> str:
    """Return the hash of a row, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(content(row))).hexdigest()


def fault(row: Mapping[str, Any], seq: int, previous_hash: str) -> str | None:
    """Return why a row is not the entry `seq` that follows `previous_hash`; None where it is."""
    if row["seq"] != seq:
        return f"Entry {seq} is missing; the next one is {row['seq']}."
    if row["previous_hash"] != previous_hash:
        return "It does not follow the previous entry: the hashes differ."
    if row["erased_by"] is not None:  # the rest of it is compared with its erasure
        return "An erasure cannot be erased." if row["action"] in ERASURES else None
    if hash_of(row) != row["hash"]:
        return "Its content does not match its hash."
    return None


def listed(erasure: Mapping[str, Any]) -> dict[int, str]:
    """Return the entries that an erasure lists, with the hash of the rest of each."""
    return {entry["seq"]: entry["sha256"] for entry in (erasure["after"] or {}).get("entries", ())}
