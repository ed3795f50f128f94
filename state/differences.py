"""What an audit entry says, in words: its action, and each field before and after."""

import re
from datetime import UTC, datetime
from typing import Any

KINDS = {
    "organization": "Organization",
    "member": "Member",
    "invitation": "Invitation",
    "user": "Person",
    "session": "Session",
    "api_key": "API key",
    "oauth_client": "Application",
    "wallet": "Wallet",
    "chain": "Chain",
    "party": "Party",
    "document": "Document",
    "issuer": "Issuer",
    "attestation": "Attestation",
    "asset": "Asset",
    "control": "Control",
    "bridge": "Bridge",
    "market": "Market",
    "order": "Order",
    "distribution": "Distribution",
    "transfer": "Transfer",
    "request": "Request",
    "approval": "Approval",
    "webhook": "Webhook",
}
"""The first part of an action, and what people call it."""
NAMES = {"xchain_eid": "endpoint id", "chain_eid": "chain", "org_type": "type", "tx_hash": "transaction"}
FIRST = ("name", "symbol", "label", "email", "status", "failure", "problem", "reason", "revocation reason")
BEHIND = ("request id", "transaction", "uid", "checked at", "guid")
"""What says nothing to a person who only glances."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
MOST = 300
"""Characters of a value that are shown."""
Change = dict[str, str]


def action_words(action: str) -> str:
    """`api_key.created` as "API key created"."""
    kind, _, verb = action.partition(".")
    return f"{KINDS.get(kind, _plain(kind).capitalize())} {_plain(verb)}".strip()


def changes(before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[Change]:
    """Every field that differs, with its value before and after as words; an empty text is none."""
    old, new = _flat(before or {}), _flat(after or {})
    names = sorted({**old, **new}, key=_place)
    pairs = [(name, old.get(name, ""), new.get(name, "")) for name in names]
    return [{"name": name, "old": was, "new": is_} for name, was, is_ in pairs if was != is_]


def _place(name: str) -> tuple[int, str]:
    """What people look for first comes first, ids last; else by name."""
    if name in FIRST:
        return FIRST.index(name), name
    return (len(FIRST) + 1 if name == "id" or name.endswith(" id") else len(FIRST)), name


def summary(found: list[Change]) -> str:
    """The differences in one line: the first two that people look for, and how many there are more of these."""
    shown = [change for change in found if not _is_behind(change["name"])]
    parts = [_change_line(change) for change in shown]
    more = f", {len(parts) - 2} more" if len(parts) > 2 else ""
    return "; ".join(part[:80] for part in parts[:2]) + more


def _is_behind(name: str) -> bool:
    last = name.rpartition(" › ")[2]
    return last == "id" or last.endswith((" id", " hash", " address")) or last in BEHIND


def _change_line(change: Change) -> str:
    new = change["new"] or "none"
    return f"{change['name']}: {change['old']} → {new}" if change["old"] else f"{change['name']}: {new}"


def _flat(fields: dict[str, Any], above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.items():
        path = f"{above}{NAMES.get(name, _plain(name))}"
        if isinstance(value, dict):
            found |= _flat(value, f"{path} › ")
        else:
            found[path] = _words(value)[:MOST]
    return found


def _words(value: Any) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_words(part) if not isinstance(part, dict) else _line(part) for part in value)
    return _day_and_time(value) if isinstance(value, str) and MOMENT.fullmatch(value) else str(value)


def _day_and_time(text: str) -> str:
    """A moment as `20 Nov 2026 12:14 UTC`."""
    at = datetime.fromisoformat(text).astimezone(UTC)
    return f"{at.day} {at:%b %Y %H:%M} UTC"


def _line(part: dict[str, Any]) -> str:
    return " ".join(f"{_plain(name)} {_words(value)}" for name, value in part.items() if value not in (None, ""))


def _plain(name: str) -> str:
    return name.replace("_", " ")
