"""Values of a pack in words: rules, changes and actions, as people read them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from backend.audit.field_names import called
from backend.compliance.countries import country_name
from backend.compliance.presets import PRESETS
from backend.core.units import grouped, shortened

RULES = {
    "regulation_type": "Framework",
    "min_kyc_level": "KYC level required",
    "requires_accreditation": "Accredited investors only",
    "org_only": "Attestations of this organization only",
    "blocked_countries": "Blocked countries",
    "lockup_end_time": "Lock-up ends",
    "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder",
    "trusted_issuers": "Trusted issuers",
}
"""Names of a token's rules, in the order in which they are shown."""
OMITTED = {"acts", "control", "id"}
"""Fields that the action already says, or that only machines read."""
AMOUNTS = {"amount", "balance", "initial_supply", "max_tokens_per_holder", "supply", "total", "total_supply"}
ACTIONS = {
    "asset.cap_table_exported": "Cap table exported",
    "asset.caps_confirmed": "Shares of the limits confirmed",
    "asset.evidence_exported": "Evidence exported",
    "asset.evidence_reported": "Evidence exported as PDF",
    "asset.limits_changed": "Daily limits changed",
    "asset.updating": "Asset update requested",
}
"""Actions whose parts do not describe them."""
_ENTRIES = {"caps": "chains"}
"""Of what a list has entries."""
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
HEX = re.compile(r"\b0x[0-9a-fA-F]{12,}|\b[0-9a-f]{40,}")


def short(address: str) -> str:
    """Return the two ends of an address."""
    return shortened(address)


def minute(at: datetime) -> str:
    """Return a time in UTC, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def exact(at: datetime) -> str:
    """Return an exact time in UTC, which the console shows in the reader's time zone: `20 Nov 2026, 12:14:05 UTC`."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC"


def rule(name: str, value: Any, decimals: int) -> str:
    """Return a rule of a token in words."""
    if name == "regulation_type":
        return framework(value)
    if name in ("requires_accreditation", "org_only"):
        return "yes" if value else "no"
    if name == "lockup_end_time":
        return f"{minute(datetime.fromtimestamp(int(value), UTC))} UTC" if value else "no lock-up"
    if name == "blocked_countries":
        return ", ".join(sorted(country_name(str(code)) for code in value)) or "none"
    if name == "trusted_issuers":
        return ", ".join(shortened(str(address)) for address in value) or "none besides its own"
    if name == "max_tokens_per_holder":
        return grouped(value, decimals) if int(value) else "unlimited"
    if name == "max_holders":
        return f"{value:,}" if value else "unlimited"
    return str(value) if value else "none"


def framework(value: Any) -> str:
    """Return the name of a framework."""
    return next((one.name for one in PRESETS if one.regulation_type == value), str(value))


def named(name: str) -> str:
    """Return the name of a field in words."""
    return RULES.get(name) or called(name)


def action(text: str, control: Any = None) -> str:
    """Return `asset.created` as "Asset created"; for a control, its name: "Freeze requested"."""
    if text in ACTIONS:
        return ACTIONS[text]
    kind, _, verb = text.partition(".")
    kind = str(control) if kind == "control" and control else kind
    return f"{kind} {verb}".replace("_", " ").strip().capitalize()


def changes(
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    decimals: int,
    chains: Mapping[int, str],
    people: Mapping[str, str],
) -> str:
    """Return what a record's change was: `maximum holders: unlimited → 9`. IDs are omitted; `chains` are the names of
    chains by endpoint ID, `people` those of accounts by lower-case address. Fields have the audit log's names."""
    old, new = (_flat(each or {}, decimals, chains, people) for each in (before, after))
    parts = []
    for name in {**old, **new}:
        was, is_ = old.get(name, ""), new.get(name, "")
        if was != is_:
            parts.append(f"{name}: {was} → {is_}" if was and is_ else f"{name}: {is_ or f'{was} removed'}")
    return "; ".join(parts)


def _flat(
    values: Mapping[str, Any], decimals: int, chains: Mapping[int, str], people: Mapping[str, str]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in values.items():
        if name in OMITTED or name.endswith("_id") or UUID.fullmatch(str(value)):
            continue
        if isinstance(value, Mapping):
            found |= _flat(value, decimals, chains, people)
        elif name == "chains" or name.endswith("chain_eid"):
            listed = value if isinstance(value, list) else [value]
            names = [chains.get(one, "another chain") for one in listed if isinstance(one, int)]
            found[called(name)] = ", ".join(names)
        elif text := _value(name, value, decimals, people):
            found[called(name)] = text
    return found


def _value(name: str, value: Any, decimals: int, people: Mapping[str, str]) -> str:
    if value is None or value == "" or (isinstance(value, list) and any(isinstance(one, Mapping) for one in value)):
        return f"{len(value):,} {_ENTRIES.get(name, 'entries')}" if value else ""
    try:
        if name in RULES or name == "required_kyc_level":
            return rule(name, value, decimals)
        if name in AMOUNTS:
            return grouped(value, decimals)
    except (ValueError, TypeError, OverflowError):
        pass
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    if MOMENT.fullmatch(str(value)):
        return exact(datetime.fromisoformat(str(value)))
    return HEX.sub(lambda found: people.get(found[0].lower()) or shortened(found[0]), str(value))
