"""Rules as people edit them: amounts in whole tokens, a moment as a date, and both ways to what the API takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from state.units import grouped, to_base

FRAMEWORKS = {
    "reg_d": "Reg D 506(c)", "reg_s": "Reg S", "reg_a_plus": "Reg A+ Tier 2", "reg_cf": "Reg CF", "none": "None",
}  # fmt: skip
OWN_ISSUERS = "this organization's and those above it"
"""Whose attestations count for every token; a list adds to them."""


@dataclass
class Rules:
    """Rules in a form. `lockup` is `YYYY-MM-DDTHH:MM` in UTC or empty; `max_tokens` whole tokens; 0 means no limit."""

    framework: str = "none"
    level: int = 0
    accredited: bool = False
    org_only: bool = False
    countries: list[str] = field(default_factory=list)
    lockup: str = ""
    max_holders: str = "0"
    max_tokens: str = "0"
    issuers: str = ""


@dataclass
class Checked:
    """Rules that fit: seconds, counts and base units."""

    framework: str
    level: int
    accredited: bool
    org_only: bool
    countries: list[str]
    lockup: int
    max_holders: int
    max_tokens: str
    issuers: list[str]


class Unfit(Exception):
    """Some fields cannot be read; `errors` are words by the API's field names."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors


def of_asset(asset: Mapping[str, Any]) -> Rules:
    """The rules of an asset's record."""
    rules = asset["compliance_rules"]
    return Rules(
        framework=asset["regulation_type"],
        level=asset["required_kyc_level"],
        accredited=rules["requires_accreditation"],
        org_only=asset["org_only"],
        countries=sorted(rules["blocked_countries"]),
        lockup=moment(rules["lockup_end_time"]),
        max_holders=f"{asset['max_holders']:,}",
        max_tokens=grouped(rules["max_tokens_per_holder"], asset["decimals"]),
        issuers="\n".join(rules["trusted_issuers"]),
    )


def checked(rules: Rules, decimals: int) -> Checked:
    """Read what people wrote. Raises Unfit with words for every field that cannot be read."""
    errors: dict[str, str] = {}

    def read(name: str, value: Any) -> Any:
        try:
            return value()
        except ValueError as error:
            errors[name] = str(error)
        return None

    fit = Checked(
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
        raise Unfit(errors)
    return fit


def asset_body(new: Checked, old: Checked | None = None) -> dict[str, Any]:
    """The API's fields of an asset; with `old` only what differs, as a merge patch has it."""
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
    """The API's fields of a market's own rules."""
    return {
        "regulation_type": rules.framework,
        "min_kyc_level": rules.level,
        "requires_accreditation": rules.accredited,
        "blocked_countries": rules.countries,
        "lockup_end_time": rules.lockup,
        "max_holders": rules.max_holders,
        "max_tokens_per_holder": rules.max_tokens,
    }


def words(rules: Checked, symbol: str, decimals: int) -> dict[str, str]:
    """Each rule in words, by its name for people."""
    most = grouped(rules.max_tokens, decimals)
    return {
        "Framework": FRAMEWORKS.get(rules.framework, rules.framework),
        "Accredited investors only": "yes" if rules.accredited else "no",
        "Required KYC level": str(rules.level) if rules.level else "none",
        "Blocked countries": ", ".join(sorted(rules.countries)) or "none",
        "Lockup ends": told(rules.lockup),
        "Maximum holders": f"{rules.max_holders:,}" if rules.max_holders else "unlimited",
        "Maximum per holder": f"{most} {symbol}".strip() if int(rules.max_tokens) else "unlimited",
        "Organization only": "yes" if rules.org_only else "no",
        "Trusted issuers": ", ".join([OWN_ISSUERS, *(f"{a[:6]}…{a[-4:]}" for a in rules.issuers)]),
    }


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[dict[str, str]]:
    """What differs, as `components.ui.progress.diff` draws it."""
    for name, value in new.items():
        if value != old[name]:
            yield {"name": name, "old": old[name], "new": value}


def moment(when: int) -> str:
    """Seconds as a `datetime-local` field takes them, in UTC; empty for none."""
    if not when:
        return ""
    time = datetime.fromtimestamp(when, UTC)
    return time.strftime("%Y-%m-%dT%H:%M:%S" if time.second else "%Y-%m-%dT%H:%M")


def told(when: int) -> str:
    """Seconds in words."""
    return datetime.fromtimestamp(when, UTC).strftime("%-d %b %Y, %H:%M UTC") if when else "no lockup"


def seconds(text: str) -> int:
    """What a `datetime-local` field gave, as seconds; 0 where it is empty. Raises ValueError in words."""
    if not text:
        return 0
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise ValueError("Write a date and time") from None


def count(text: str) -> int:
    """A count. Raises ValueError in words."""
    plain = text.replace(",", "").replace(" ", "") or "0"
    if not plain.isascii() or not plain.isdigit() or int(plain[:20]) >= 2**32:
        raise ValueError("Write a whole number, 0 for no limit")
    return int(plain)


def after_months(months: int, now: datetime) -> str:
    """The first moment of the day so many months from now, as a field takes it; empty for none."""
    if not months:
        return ""
    years, month = divmod(now.month - 1 + months, 12)
    day = min(now.day, 28)
    return f"{now.year + years:04d}-{month + 1:02d}-{day:02d}T00:00"
