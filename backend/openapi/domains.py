"""Bounds of fields whose type has none: what the database, the chain or the rules of the API allow them to be.

Requests have the bounds of their types (`backend.core.fields`), which refuse values outside them. Fields of responses
get them here, by name, because a name means the same in every response. `Record` keeps texts below `LONGEST_TEXT`,
the bound of a text that has no other. The tests compare every response with these bounds.
"""

import re
from typing import Any

from backend.core.content_rules import LONGEST_TEXT, TIME_LENGTH, UUID_LENGTH
from backend.core.pagination import MAX_LIMIT

INT32, INT64, UINT64 = 2**31 - 1, 2**63 - 1, 2**64 - 1
EID = {"minimum": 0, "maximum": 2**32 - 1}
BYTE = {"minimum": 0, "maximum": 255}
HTTP_STATUS = {"minimum": 100, "maximum": 599}
SIGNED = {"minimum": -INT64 - 1, "maximum": INT64}
ADDRESS = {"pattern": "^0x[0-9a-fA-F]{40}$", "maxLength": 42}
HASH = {"pattern": "^0x[0-9a-fA-F]{64}$", "maxLength": 66}
SHA256 = {"pattern": "^[0-9a-f]{64}$", "maxLength": 64}
AMOUNT = {"pattern": "^[0-9]{1,78}$", "maxLength": 78}
IP_ADDRESS = {"maxLength": 45}

LISTED = 1_000_000
"""Most items of a list without pages, whose length follows from records, such as sub-organizations."""
LENGTHS = {"uuid": UUID_LENGTH, "date-time": TIME_LENGTH, "email": 254, "eip-55": 42, "uint256": 78, "uri": 2_000}
"""Length of a format, where the schema has none."""

STRINGS: dict[str, dict[str, Any]] = {
    r"^ip_address$": IP_ADDRESS,
    r"(^|_)address(es)?$|^(attester|trusted_issuers)$": ADDRESS,
    r"(^|_)tx_hash$|^(merkle_root|guid|uid)$": HASH,
    r"^sha256$": SHA256,
    r"^(amount|balance|filled|frozen|price|last_price|volume|supply|total_supply|initial_supply)$": AMOUNT,
    r"^(total_amount|claimed_amount|bridge_amount|taker_fee|maker_fee|max_tokens_per_holder)$": AMOUNT,
    r"^(access_token|refresh_token|id_token)$": {"maxLength": 16_000},
    r"^redirect_to$": {"maxLength": 16_000},
    r"^(nextCursor|cursor)$": {"maxLength": 1_000},
}
INTEGERS: dict[str, dict[str, Any]] = {
    r"(?i)eid$": EID,
    r"(^|_)decimals$|kyc_level$": BYTE,
    r"_bps$": {"minimum": 0, "maximum": 10_000},
    r"^(response_)?status$": HTTP_STATUS,
    r"^(clock_offset_seconds|lag)$": SIGNED,
    r"^(max_holders|lockup_end_time|confirmations)$": {"minimum": 0, "maximum": UINT64},
}
ARRAYS: dict[str, dict[str, Any]] = {
    r"^proof$": {"maxItems": 256},
    r"^ancestors$": {"maxItems": 64},
    r"^blocked_?[cC]ountries$": {"maxItems": 250},
    r"^trusted_issuers$": {"maxItems": 32},
    r"^(errors|rules)$": {"maxItems": 1_000},
}
"""Bounds by the name of the field, for each type. The first pattern that fits counts."""

EXCEPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("AuditEntry", "address"): IP_ADDRESS,
    ("Session", "address"): IP_ADDRESS,
    ("RuleProblem", "address"): IP_ADDRESS,
}
"""Fields whose name means something else in this schema."""


def bounds_of(schema: str, name: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return the missing bounds of a part of a field: of the field itself, a choice or an item."""
    kinds = part.get("type")
    found: dict[str, Any] = {}
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind == "string" and not part.keys() & {"maxLength", "enum", "const"}:
            found |= _string(schema, name, part)
        elif kind == "integer":
            found |= _integer(name, part)
        elif kind == "array" and "maxItems" not in part:
            found |= _known(ARRAYS, name, {"maxItems": LISTED})
    return found


def page_bounds(schema: dict[str, Any]) -> None:
    """Give the lists of a page their bound: the largest page."""
    properties = schema.get("properties", {})
    if "nextCursor" in properties:
        for child in properties.values():
            if child.get("type") == "array":
                child.setdefault("maxItems", MAX_LIMIT)


def _string(schema: str, name: str, part: dict[str, Any]) -> dict[str, Any]:
    if (schema, name) in EXCEPTIONS:
        return EXCEPTIONS[schema, name]
    if part.get("format") in LENGTHS:
        return {"maxLength": LENGTHS[part["format"]]}
    known = _known(STRINGS, name, {"maxLength": LONGEST_TEXT})
    return {k: v for k, v in known.items() if k not in part}


def _integer(name: str, part: dict[str, Any]) -> dict[str, Any]:
    known = _known(INTEGERS, name, {"minimum": 0, "maximum": INT64})
    low = {} if "exclusiveMinimum" in part else {"minimum": part.get("minimum", known["minimum"])}
    high = {} if "exclusiveMaximum" in part else {"maximum": part.get("maximum", known["maximum"])}
    most = max(abs(bound) for bound in (part | low | high).values() if isinstance(bound, int) and bound is not True)
    form = "int32" if most <= INT32 else "int64" if most <= INT64 + 1 else "uint64"
    return {**low, **high, "format": part.get("format", form)}


def _known(table: dict[str, dict[str, Any]], name: str, otherwise: dict[str, Any]) -> dict[str, Any]:
    return next((bounds for pattern, bounds in table.items() if re.search(pattern, name)), otherwise)
