"""What each rule says about a movement, as pages show it."""

import re
from dataclasses import dataclass
from typing import Any

from state.rules import told
from state.units import grouped

TITLES = {
    "paused": "Token is not paused", "rules": "Rules are set", "receiver": "Receiver can hold it", "balance": "Balance",
    "frozen": "Not frozen", "lockup_end_time": "Lockup", "attestation": "Attestation",
    "blocked_countries": "Blocked countries", "org_only": "Organization only", "min_kyc_level": "KYC level",
    "requires_accreditation": "Accreditation", "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder", "halted": "Market is open",
}  # fmt: skip


AMOUNT = re.compile(r"\b(\d+)(?: base units)?(?= (?:are there|are asked|afterwards, |may be held|of the sender))")
MOMENT = re.compile(r"Unix time (\d+)")


@dataclass(frozen=True)
class Terms:
    """What a verdict is about: the API counts in base units and seconds, people do not."""

    org_id: str
    asset_id: str
    symbol: str
    decimals: int

    def in_words(self, reason: str) -> str:
        """A reason with amounts in whole tokens and moments as dates."""
        if "base units" in reason:
            reason = AMOUNT.sub(lambda found: f"{grouped(found[1], self.decimals)} {self.symbol}", reason)
        return MOMENT.sub(lambda found: told(int(found[1])), reason)


@dataclass
class Verdict:
    """One rule's word: why, and what would put it right, with the page of the console that does it."""

    id: str
    title: str
    passed: bool
    reason: str
    fix: str
    call: str
    href: str


def verdicts_of(rules: list[dict[str, Any]], terms: Terms) -> list[Verdict]:
    """Read the API's verdicts; those that stand against it come first."""
    found = [_verdict(i, rule, terms) for i, rule in enumerate(rules)]
    return sorted(found, key=lambda verdict: verdict.passed)


def _verdict(i: int, rule: dict[str, Any], terms: Terms) -> Verdict:
    fix = rule.get("resolution") or {}
    return Verdict(
        id=f"{i}-{rule['code']}",
        title=TITLES.get(rule["rule"], rule["rule"].replace("_", " ").capitalize()),
        passed=rule["passed"],
        reason=terms.in_words(rule["reason"]),
        fix=fix.get("description", ""),
        call=f"{fix['method']} {fix['path']}" if fix.get("path") else "",
        href=_page(fix, terms),
    )


def _page(fix: dict[str, Any], terms: Terms) -> str:
    """Where the console does what the API's resolution says."""
    path = fix.get("path") or ""
    if path.endswith("/attestations"):
        return f"/o/{terms.org_id}/attestations"
    if fix.get("method") == "PATCH" and "/assets/" in path:
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=compliance"
    if path.endswith(("/unpause", "/unfreeze")):
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=controls"
    return ""
