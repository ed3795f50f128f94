"""Rules as users edit them: whole tokens and dates, converted to and from the API's values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pydantic import TypeAdapter

from backend.assets.schemas import Asset
from state.compliance.rule_values import count, moment, seconds, time_text
from state.core.countries import written
from state.core.units import grouped, shortened, to_base

FRAMEWORKS = {
    "reg_d": "Reg D 506(c)", "reg_s": "Reg S", "reg_a_plus": "Reg A+ Tier 2", "reg_cf": "Reg CF", "none": "None",
}  # fmt: skip
OWN_ISSUERS = "this organization and its parents"
"""Issuers that every token trusts; a list adds to them."""


@dataclass
class Rules:
    """Rules in a form. `lockup` is `YYYY-MM-DDTHH:MM` in UTC or empty; `max_tokens` is in whole tokens; 0: no limit."""

    framework: str = "none"
    level: int = 0
    accredited: bool = False
    org_only: bool = False
    countries: list[str] = field(default_factory=list)
    lockup: str = ""
    max_holders: str = "0"
    max_tokens: str = "0"
    issuers: str = ""


def rules_of(stored: object) -> Rules:
    """Return stored rules. Raises ValueError if they are malformed."""
    return TypeAdapter(Rules).validate_python(stored)


def rebased(draft: Rules, before: Rules, now: Rules) -> Rules:
    """Return the current rules with the changes that a draft made to earlier ones."""
    changed = {
        f.name: getattr(draft, f.name) for f in fields(Rules) if getattr(draft, f.name) != getattr(before, f.name)
    }
    return replace(now, **changed)


@dataclass
class Checked:
    """Validated rules: seconds, counts and base units."""

    framework: str
    level: int
    accredited: bool
    org_only: bool
    countries: list[str]
    lockup: int
    max_holders: int
    max_tokens: str
    issuers: list[str]


class InvalidFields(Exception):
    """Some fields are invalid; `errors` are messages by the API's field names."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors


def of_asset(asset: Asset) -> Rules:
    """Return the rules of an asset's record."""
    rules = asset.compliance_rules
    return Rules(
        framework=asset.regulation_type,
        level=asset.required_kyc_level,
        accredited=rules.requires_accreditation,
        org_only=asset.org_only,
        countries=sorted(rules.blocked_countries),
        lockup=moment(rules.lockup_end_time),
        max_holders=f"{asset.max_holders:,}",
        max_tokens=grouped(rules.max_tokens_per_holder, asset.decimals),
        issuers="\n".join(rules.trusted_issuers),
    )


def checked(rules: Rules, decimals: int) -> Checked:
    """Parse the form's values. Raises InvalidFields with a message for every invalid field."""
    errors: dict[str, str] = {}

    def read(name: str, value: Any) -> Any:
        try:
            return value()
        except ValueError as error:
            errors[name] = str(error)
        return None

    result = Checked(
        framework=rules.framework,
        level=rules.level,
        accredited=rules.accredited,
        org_only=rules.org_only,
        countries=sorted(rules.countries),
        lockup=read("lockup_end_time", lambda: seconds(rules.lockup)),
        max_holders=read("max_holders", lambda: count(rules.max_holders)),
        max_tokens=read("max_tokens_per_holder", lambda: to_base(rules.max_tokens or "0", decimals)),
        issuers=rules.issuers.replace(",", " ").split(),
    )
    if errors:
        raise InvalidFields(errors)
    return result


def asset_body(new: Checked, old: Checked | None = None) -> dict[str, Any]:
    """Return the API's fields of an asset; with `old` only changed ones, as in a merge patch."""
    top = {
        "regulation_type": new.framework,
        "required_kyc_level": new.level,
        "max_holders": new.max_holders,
        "org_only": new.org_only,
    }
    inner = _inner(new)
    if old is None:
        return top | {"compliance_rules": inner}
    was, inner_was = asset_body(old), _inner(old)
    changed = {name: value for name, value in top.items() if value != was[name]}
    rules = {name: value for name, value in inner.items() if value != inner_was[name]}
    return changed | ({"compliance_rules": rules} if rules else {})


def _inner(rules: Checked) -> dict[str, Any]:
    return {
        "requires_accreditation": rules.accredited,
        "blocked_countries": rules.countries,
        "lockup_end_time": rules.lockup,
        "max_tokens_per_holder": rules.max_tokens,
        "trusted_issuers": rules.issuers,
    }


def market_body(rules: Checked) -> dict[str, Any]:
    """Return the API's fields of a market's own rules."""
    return {
        "regulation_type": rules.framework,
        "min_kyc_level": rules.level,
        "requires_accreditation": rules.accredited,
        "blocked_countries": rules.countries,
        "lockup_end_time": rules.lockup,
        "max_holders": rules.max_holders,
        "max_tokens_per_holder": rules.max_tokens,
    }


def words(rules: Checked, symbol: str, decimals: int, issuers: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return each rule as text, by its displayed name; `issuers` are known names of trusted issuers by address in lower
    case."""
    named = [(issuers or {}).get(one.lower()) or shortened(one) for one in rules.issuers]
    most = grouped(rules.max_tokens, decimals)
    return {
        "Framework": FRAMEWORKS.get(rules.framework, rules.framework),
        "Accredited investors only": "Yes" if rules.accredited else "No",
        "Required KYC level": str(rules.level) if rules.level else "None",
        "Blocked countries": ", ".join(sorted(map(written, rules.countries))) or "None",
        "Lock-up ends": time_text(rules.lockup) if rules.lockup else "No lock-up",
        "Maximum holders": f"{rules.max_holders:,}" if rules.max_holders else "Unlimited",
        "Maximum per holder": f"{most} {symbol}".strip() if int(rules.max_tokens) else "Unlimited",
        "Organization only": "Yes" if rules.org_only else "No",
        "Trusted issuers": ", ".join([OWN_ISSUERS, *named]),
    }
