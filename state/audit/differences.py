"""An audit entry in words: its action, and each field before and after."""

from typing import Any

from state.core.record_values import Values, called
from state.core.units import with_short_addresses

KINDS = {
    "organization": "Organization",
    "member": "Member",
    "invitation": "Invitation",
    "user": "User",
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
    "trade": "Trade",
    "distribution": "Distribution",
    "transfer": "Transfer",
    "request": "Request",
    "approval": "Approval",
    "webhook": "Webhook",
}
"""Displayed names of kinds: the first part of an action."""
FIRST = (
    "name", "symbol", "label", "email", "status", "failure", "problem", "control", "side", "amount", "price", "reason",
    "revocation reason",
)  # fmt: skip
BEHIND = (
    "from", "to", "token", "quote token", "wallet", "maker", "market factory", "market contract", "distributor",
    "transaction", "transactions", "transaction at the source", "transaction at the destination", "attestation uid",
    "packet", "checked", "path",
)  # fmt: skip
"""Fields that the one-line summary omits because they mean little at a glance."""
ACTIONS = {"chain.repaired": "Repaired from the chain"}
"""Actions whose parts do not describe them."""
MOST = 300
"""Maximum characters of a displayed value."""
Change = dict[str, str]


def action_words(action: str, control: str | None = None) -> str:
    """Return `api_key.created` as "API key created"; for a `control`, its name: "Forced transfer requested"."""
    if action in ACTIONS:
        return ACTIONS[action]
    kind, _, verb = action.partition(".")
    if kind == "control" and control:
        return f"{_plain(control).capitalize()} {_plain(verb)}"
    return f"{KINDS.get(kind, _plain(kind).capitalize())} {_plain(verb)}".strip()


def changes(before: dict[str, Any] | None, after: dict[str, Any] | None, values: Values | None = None) -> list[Change]:
    """Return every changed field with its value before and after as text; empty text means no value."""
    values = values or Values()
    old, new = _flat(before or {}, values), _flat(after or {}, values)
    names = sorted({**old, **new}, key=_place)
    pairs = [(name, old.get(name, ""), new.get(name, "")) for name in names]
    return [{"name": name, "old": was, "new": is_} for name, was, is_ in pairs if was != is_]


def _place(name: str) -> tuple[int, str]:
    """Sort key: the most relevant fields first, ids last, the rest by name."""
    if name in FIRST:
        return FIRST.index(name), name
    return (len(FIRST) + 1 if name == "id" or name.endswith(" id") else len(FIRST)), name


def summary(found: list[Change]) -> str:
    """Return the differences in one line: the two most relevant ones, and how many more there are."""
    shown = [change for change in found if not _is_behind(change["name"])]
    parts = [_change_line(change) for change in shown]
    more = f", {len(parts) - 2} more" if len(parts) > 2 else ""
    return "; ".join(part[:80] for part in parts[:2]) + more


def _is_behind(name: str) -> bool:
    last = name.rpartition(" › ")[2]
    return last == "id" or last.endswith((" id", " hash", " address")) or last in BEHIND


def _change_line(change: Change) -> str:
    new = change["new"] or "none"
    line = f"{change['name']}: {change['old']} → {new}" if change["old"] else f"{change['name']}: {new}"
    return with_short_addresses(line)


def _flat(fields: dict[str, Any], values: Values, above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.items():
        path = f"{above}{called(name)}"
        if isinstance(value, dict):
            found |= _flat(value, values, f"{path} › ")
        else:
            found[path] = values.read(name, value)[:MOST]
    return found


def _plain(name: str) -> str:
    return name.replace("_", " ")
