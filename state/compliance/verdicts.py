"""Each rule's verdict on a movement, as pages show it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

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


MARKET_CODES = 32
"""Codes of a market's own rules begin here."""
SENDER_NOT_ATTESTED = 7
AMOUNT = re.compile(r"\b(\d+) base units")
MOMENT = re.compile(r"Unix time (\d+)")


@dataclass(frozen=True)
class Terms:
    """The subject's units: the API counts in base units and seconds, the console shows whole tokens and dates."""

    org_id: str
    asset_id: str
    symbol: str
    decimals: int
    trader: str = "The trader"
    """Who places the order that is judged."""
    receiver: str = ""
    """The address that receives what is judged; empty where no one does."""

    def in_words(self, reason: str, *, exact: bool = False) -> str:
        """Return a reason with amounts in whole tokens, at most 6 decimals unless `exact`, and times as dates."""
        if "base units" in reason:
            written = grouped if exact else rounded
            reason = AMOUNT.sub(lambda found: f"{written(found[1], self.decimals)} {self.symbol}", reason)
        return MOMENT.sub(lambda found: time_text(int(found[1])), reason)


@dataclass
class Verdict:
    """One rule's verdict: the reason (`exact` with all decimals), and the fix with the console's page for it.

    `go` is the label of the link to that page.
    """

    id: str
    title: str
    passed: bool
    reason: str
    exact: str
    fix: str
    call: str
    href: str
    go: str = "Fix"


def verdicts_of(rules: Iterable[RuleVerdict], terms: Terms) -> list[Verdict]:
    """Convert the API's verdicts; refusals come first. What refuses an order twice, by the token's and the market's
    rules, is one refusal."""
    found = [_verdict(i, rules, terms) for i, rules in enumerate(_together(list(rules)))]
    return sorted(found, key=lambda verdict: verdict.passed)


def _together(rules: list[RuleVerdict]) -> list[list[RuleVerdict]]:
    """Group what refuses an order's trader for one reason, with one resolution. A transfer concerns two accounts, so
    its refusals stay apart."""
    is_order = any(rule.code >= MARKET_CODES for rule in rules)
    groups: dict[tuple[Any, ...], list[RuleVerdict]] = {}
    for i, rule in enumerate(rules):
        fix = rule.resolution
        is_alone = rule.passed or not is_order or fix is None or fix.path is None
        key = (i,) if is_alone or fix is None else (rule.rule, fix.method, fix.path)
        groups.setdefault(key, []).append(rule)
    return list(groups.values())


def refusals_of(problem: ApiProblem, terms: Terms) -> list[Verdict]:
    """Return the verdicts of the rules that refused a movement; none if the problem is another one."""
    return verdicts_of((RuleVerdict.model_validate(rule) for rule in problem.rules), terms)


def _verdict(i: int, rules: list[RuleVerdict], terms: Terms) -> Verdict:
    rule, reason = rules[0], _reason(rules, terms)
    if rule.revocation:
        reason = f"{reason} {rule.revocation.detail}"
    fix = rule.resolution
    return Verdict(
        id=f"{i}-{rule.code}",
        title=TITLES.get(rule.rule, rule.rule.replace("_", " ").capitalize()),
        passed=rule.passed,
        reason=terms.in_words(reason),
        exact=terms.in_words(reason, exact=True),
        fix=fix.description if fix else "",
        call=f"{fix.method} {fix.href}" if fix and fix.href else "",
        href=_page(fix, rule, terms) if fix else "",
        go="Review the case" if rule.revocation else "Fix",
    )


def _reason(rules: list[RuleVerdict], terms: Terms) -> str:
    """Return the reason of one refusal, or of all that `_together` has found to be one."""
    if len(rules) == 1:
        return rules[0].reason
    if rules[0].rule == "attestation":
        use = "send" if any(rule.code == SENDER_NOT_ATTESTED for rule in rules) else "hold"
        return f"{terms.trader} is not attested. An attestation is needed to {use} the token and to trade here."
    return " ".join(dict.fromkeys(rule.reason for rule in rules))


def _page(fix: Resolution, rule: RuleVerdict, terms: Terms) -> str:
    """Return the console's page for the API's resolution: for an attestation, that of the receiver's party."""
    if rule.revocation:
        return f"/o/{terms.org_id}/parties?id={rule.revocation.party_id}"
    path = fix.path or ""
    if path.endswith("/attestations"):
        is_receiver = terms.receiver and rule.code != SENDER_NOT_ATTESTED
        return f"/o/{terms.org_id}/" + (f"parties?q={quote(terms.receiver)}" if is_receiver else "attestations")
    if fix.method == "PATCH" and "/assets/" in path:
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=compliance"
    if path.endswith(("/unpause", "/unfreeze")):
        return f"/o/{terms.org_id}/assets/{terms.asset_id}?tab=controls"
    return ""
