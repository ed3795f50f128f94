"""An audit entry in words: its action, and each field before and after."""

from typing import Any

from backend.audit.field_names import called
from state.core.record_values import Values
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
    "approvals", "name", "symbol", "label", "email", "status", "disabled", "failure", "problem", "control", "side",
    "from", "amount", "price", "reason", "revocation reason",
)  # fmt: skip
BEHIND = (
    "from", "to", "token", "quote token", "wallet", "maker", "market factory", "market contract", "distributor",
    "transaction", "transactions", "transaction at the source", "transaction at the destination", "attestation UID",
    "packet", "checked", "path", "SHA-256", "acts", "created", "updated", "API version", "side", "control",
    "invited by", "created by", "claimed amount", "recipients who claimed", "list of recipients stored",
)  # fmt: skip
"""Fields that the one-line summary omits: they mean little at a glance, or the action already says them."""
LEADS = {
    "sender": "from",
    "chain": "on",
    "chains": "on",
    "event types": "events:",
    "expires": "expires",
    "disabled": "disabled",
}
"""Words before the value of a new field in the one-line summary, instead of its name and a colon."""
TECHNICAL = frozenset({"API version", "attestation UID", "SHA-256", "merkle root", "path", "packet"})
"""Fields, besides ids and hashes, that only a technical reader needs."""
ACTIONS = {
    "approval.approved": "Approved",
    "approval.created": "Approval requested",
    "approval.denied": "Denied",
    "approval.withdrawn": "Withdrawn",
    "asset.caps_confirmed": "Shares of the limits confirmed",
    "asset.limits_changed": "Daily limits changed",
    "asset.updating": "Asset update requested",
    "attestation.active": "Attestation confirmed",
    "attestation.created": "Attestation requested",
    "attestation.revoking": "Attestation revocation requested",
    "bridge.arrived_late": "Bridge arrived late",
    "bridge.confirmed": "Bridge delivered",
    "bridge.created": "Bridge requested",
    "bridge.return_requested": "Bridge return requested",
    "bridge.submitting": "Bridge packet being sent",
    "chain.repaired": "Repaired from the chain",
    "distribution.activating": "Distribution activation requested",
    "distribution.cancelling": "Distribution cancellation requested",
    "distribution.paying": "Payment to a recipient requested",
    "issuer.registering": "Issuer registration requested",
    "market.active": "Market deployed",
    "market.deploying": "Market being deployed",
    "market.pending_bridge": "Market waiting for its bridge",
    "order.cancelling": "Order cancellation requested",
    "party.document_added": "Document of a party added",
    "transfer.created": "Transfer requested",
    "transfer.submitting": "Transfer being sent",
    "user.factor_added": "Second factor added",
    "user.factor_removed": "Second factor removed",
    "user.factors_removed": "Second factors removed",
    "user.password_changed": "Password changed",
    "user.recovery_codes_created": "Recovery codes created",
    "user.wallet_linked": "Wallet linked to a person",
    "user.wallet_unlinked": "Wallet unlinked from a person",
    "wallet.test_funds_paid": "Test funds paid",
    "wallet.test_funds_requested": "Test funds requested",
    "webhook.recovering": "Recovery of webhook deliveries requested",
    "webhook.replayed": "Webhook deliveries replayed",
    "webhook.secret_rotated": "Webhook secret rotated",
}
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
    return (len(FIRST) + 1 if is_technical(name) else len(FIRST)), name


def is_technical(name: str) -> bool:
    """Return whether a field is an id, a hash or the like."""
    return name in TECHNICAL or name.rpartition(" ")[2] in ("ID", "hash")


def summary(found: list[Change], subject: str = "") -> str:
    """Return the differences in one line: the two most relevant ones, and how many more there are. The name of the
    `subject` stands beside it, so what it says is omitted."""
    said = subject.casefold()
    shown = [
        change
        for change in found
        if not _is_behind(change["name"]) and not (change["new"] and change["new"].casefold() in said)
    ]
    parts = [_change_line(change) for change in shown]
    count = len(parts) - 2
    more = [f"{count} more field{'' if count == 1 else 's'}"] if count > 0 else []
    line = "; ".join([*(part[:80].removesuffix(".") for part in parts[:2]), *more])
    return line[:1].upper() + line[1:]


def _is_behind(name: str) -> bool:
    last = name.rpartition(" › ")[2]
    return is_technical(last) or last.endswith(" address") or last in BEHIND


def _change_line(change: Change) -> str:
    name, old, new = change["name"], change["old"], change["new"]
    if name == "approvals":
        return _policy_line(old, new)
    if not new:
        return with_short_addresses(f"{name} {old} removed")
    lead = LEADS.get(name, f"{name}:")
    return with_short_addresses(f"{name}: {old} → {new}" if old else f"{lead} {new}")


def _policy_line(old: str, new: str) -> str:
    """Return which actions now need a second person, and which no longer do."""
    before, after = (set(filter(None, words.split(", "))) for words in (old, new))
    now, ended = ", ".join(sorted(after - before)), ", ".join(sorted(before - after))
    parts = [f"{now} now needs a second person"] if now else []
    return ", ".join([*parts, *([f"{ended} no longer needs a second person"] if ended else [])])


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
