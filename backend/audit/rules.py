"""The chain of hashes. Pure.

An entry's hash is the SHA-256 of its canonical JSON, which carries the hash of the entry before it: whoever alters,
inserts or takes out an entry breaks every hash from there on. The first entry's `previous_hash` is 64 zeros.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

GENESIS = "0" * 64
"""What the first entry of an organization follows."""
HASHED = (
    "organization_id",
    "seq",
    "at",
    "actor",
    "credential",
    "action",
    "subject",
    "before",
    "after",
    "request_id",
    "address",
    "previous_hash",
)
"""The members of an entry that its hash covers."""


def canonical(value: Any) -> bytes:
    """JSON as RFC 8785 has it: members sorted by name, no white space, UTF-8 with the fewest escapes.

    Names are ASCII and numbers whole here, so that Python's own order and digits are those of the RFC; amounts, which
    may be larger than 2^53, are text.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def content(row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a row is hashed, as the API shows it. `row` has the columns of the log."""
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
    """A time as the API writes it."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def hash_of(row: Mapping[str, Any]) -> str:
    """The hash of a row, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(content(row))).hexdigest()


def fault(row: Mapping[str, Any], seq: int, previous_hash: str) -> str | None:
    """Why a row is not the entry `seq` that follows `previous_hash`; None where it is."""
    if row["seq"] != seq:
        return f"Entry {seq} is missing; the next one is {row['seq']}."
    if row["previous_hash"] != previous_hash:
        return "It does not follow the entry before it: that one's hash is another."
    if hash_of(row) != row["hash"]:
        return "Its content is not what was hashed when it was written."
    return None
