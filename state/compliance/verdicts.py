"""Each rule's verdict on a movement, as pages show it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from backend.client import ApiProblem
from backend.compliance.schemas import Resolution, RuleVerdict
from state.compliance.rule_values import time_text
from state.core.units import grouped, rounded

TITLES = {
    "paused": "Token is not paused", "rules": "Rules are set", "receiver": "Receiver can hold it", "balance": "Balance",
    "frozen": "Not frozen", "lockup_end_time": "Lock-up", "attestation": "Attestation",
    "blocked_countries": "Blocked countries", "org_only": "Organization only", "min_kyc_level": "KYC level",
    "requires_accreditation": "Accreditation", "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder", "halted": "Market is open",
}  # fmt: skip


AMOUNT = re.compile(r"\b(\d+) base units")
MOMENT = re.compile(r"Unix time (\d+)")


@dataclass(frozen=True)
class Terms:
    """The subject's units: the API counts in base units and seconds, the console shows whole tokens and dates."""

    org_id: str
    asset_id: str
    symbol: str
    decimals: int

    def in_words(self, reason: str, *, exact: bool = False) -> str:
        """Return a reason with amounts in whole tokens, at most 6 decimals unless `exact`, and times as dates."""
        if "base units" in reason:
            written = grouped if exact else rounded
            reason = AMOUNT.sub(lambda found: f"{written(found[1], self.decimals)} {self.symbol}", reason)
        return MOMENT.sub(lambda found: time_text(int(found[1])), reason)


@dataclass
class Verdict:
    """One rule's verdict: the reason (`exact` with all decimals), and the fix with the console's page for it."""

    id: str
    title: str
    passed: bool
    reason: str
    exact: str
    fix: str
    call: str
    href: str


def verdicts_of(rules: Iterable[RuleVerdict], terms: Terms) -> list[Verdict]:
    """Convert the API's verdicts; refusals come first."""
    found = [_verdict(i, rule, terms) for i, rule in enumerate(rules)]
    return sorted(found, key=lambda verdict: verdict.passed)


def refusals_of(problem: ApiProblem, terms: Terms) -> list[Verdict]:
    """Return the verdicts of the rules that refused a movement; none if the problem is another one."""
    return verdicts_of((RuleVerdict.model_validate(rule) for rule in problem.rules), terms)


def _verdict(i: int, rule: RuleVerdict, terms: Terms) -> Verdict:
    fix = rule.resolution
    return Verdict(
        id=f"{i}-{rule.code}",
        title=TITLES.get(rule.rule, rule.rule.replace("_", " ").capitalize()),
        passed=rule.passed,
        reason=terms.in_words(rule.reason),
        exact=terms.in_words(rule.reason, exact=True),
        fix=fix.description if fix else "",
        call=f"{fix.method} {fix.href}" if fix and fix.href else "",
        href=_page(fix, terms) if fix else "",
    )


def _page(fix: Resolution, terms: Terms) -> str:
    """Return the console's page for the API's resolution."""
    path = fix.path or ""
    if path.endswith("/attestations"):
        return f"/o/{terms.org_id}/attestations"
    if fix.method == "PATCH" and "/assets/" in path:
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=compliance"
    if path.endswith(("/unpause", "/unfreeze")):
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=controls"
    return ""
