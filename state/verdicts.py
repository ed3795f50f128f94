"""What each rule says about a movement, as pages show it."""

from dataclasses import dataclass
from typing import Any

TITLES = {
    "paused": "Token is not paused", "rules": "Rules are set", "receiver": "Receiver can hold it", "balance": "Balance",
    "frozen": "Not frozen", "lockup_end_time": "Lockup", "attestation": "Attestation",
    "blocked_countries": "Blocked countries", "org_only": "Organization only", "min_kyc_level": "KYC level",
    "requires_accreditation": "Accreditation", "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder", "halted": "Market is open",
}  # fmt: skip


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


def verdicts_of(rules: list[dict[str, Any]], org_id: str, asset_id: str) -> list[Verdict]:
    """Read the API's verdicts; those that stand against it come first."""
    found = [_verdict(i, rule, org_id, asset_id) for i, rule in enumerate(rules)]
    return sorted(found, key=lambda verdict: verdict.passed)


def _verdict(i: int, rule: dict[str, Any], org_id: str, asset_id: str) -> Verdict:
    fix = rule.get("resolution") or {}
    return Verdict(
        id=f"{i}-{rule['code']}",
        title=TITLES.get(rule["rule"], rule["rule"].replace("_", " ").capitalize()),
        passed=rule["passed"],
        reason=rule["reason"],
        fix=fix.get("description", ""),
        call=f"{fix['method']} {fix['path']}" if fix else "",
        href=_page(fix, org_id, asset_id),
    )


def _page(fix: dict[str, str], org_id: str, asset_id: str) -> str:
    """Where the console does what the API's resolution says."""
    path = fix.get("path", "")
    if path.endswith("/attestations"):
        return f"/o/{org_id}/attestations"
    if fix.get("method") == "PATCH" and "/assets/" in path:
        return f"/o/{org_id}/assets/{asset_id}?tab=compliance"
    return ""
