"""Resolutions of refusals: a description, and the API call.

Only calls that the caller can actually make are named: none gives tokens to an account, or changes the rules of a
market. Test funds exist on embedded chains only.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.compliance import rules
from backend.compliance.schemas import Resolution, ResolutionBody, RuleVerdict
from backend.core.resolutions import REASON, body, call, known
from backend.core.settings import settings

_BY_ATTESTATION = frozenset(
    {
        rules.SENDER_NOT_ATTESTED,
        rules.RECEIVER_NOT_ATTESTED,
        rules.ORG_ONLY,
        rules.RECEIVER_KYC_LEVEL,
        rules.RECEIVER_ACCREDITATION,
        rules.MARKET_NOT_ATTESTED,
        rules.MARKET_KYC_LEVEL,
        rules.MARKET_ACCREDITATION,
    }
)
_BY_RULES = frozenset(
    {
        rules.RULES_NOT_SET,
        rules.LOCKUP,
        rules.SENDER_COUNTRY_BLOCKED,
        rules.RECEIVER_COUNTRY_BLOCKED,
        rules.MAX_HOLDERS,
        rules.MAX_PER_HOLDER,
    }
)


def resolved(verdicts: Sequence[RuleVerdict], organization_id: UUID, asset_id: UUID, eid: int) -> list[RuleVerdict]:
    """Return the verdicts on a movement on a chain, the failed ones with their resolution."""
    return [v if v.passed else _with_resolution(v, organization_id, asset_id, eid) for v in verdicts]


def test_funds(organization_id: UUID, wallet_id: UUID, eid: int, amount: int) -> dict[str, Any]:
    """Return the call that pays the missing base units of the test currency to a wallet."""
    path = f"/orgs/{organization_id}/wallets/{wallet_id}/test-funds"
    words = f"Get test funds on the chain {eid}: at least {amount} base units."
    return call("POST", path, words, chain_eid=known(eid))


def _with_resolution(verdict: RuleVerdict, organization_id: UUID, asset_id: UUID, eid: int) -> RuleVerdict:
    method, path = _call(verdict.code, f"/orgs/{organization_id}", asset_id)
    fields = _fields(verdict.code, eid)
    href = settings().base_url + path if path else None
    words = RESTRICTIONS[verdict.code].resolution
    resolution = Resolution(method=method, path=path, href=href, description=words)
    if path and fields:
        resolution.body = ResolutionBody.model_validate(body(**fields))
    return verdict.model_copy(update={"resolution": resolution})


def _fields(code: int, eid: int) -> dict[str, Any]:
    """Return the fields of the call's body. The party of an account, and what to allow, is the caller's to know."""
    if code in _BY_ATTESTATION:
        return {"party_id": {"type": "string", "format": "uuid"}, "chain_eid": known(eid)}
    if code in _BY_RULES:
        return _CHANGED.get(code, {"compliance_rules": {"type": "object"}})
    if code == rules.PAUSED:
        return {"chain_eid": known(eid), "reason": REASON}
    return {"chain_eid": known(eid), "address": {"type": "string"}, "reason": REASON}


def _rule(name: str, kind: str) -> dict[str, Any]:
    return {"compliance_rules": body(**{name: {"type": kind}})}


_CHANGED: Final = {
    rules.LOCKUP: _rule("lockup_end_time", "integer"),
    rules.SENDER_COUNTRY_BLOCKED: _rule("blocked_countries", "array"),
    rules.RECEIVER_COUNTRY_BLOCKED: _rule("blocked_countries", "array"),
    rules.MAX_HOLDERS: {"max_holders": {"type": "integer"}},
    rules.MAX_PER_HOLDER: _rule("max_tokens_per_holder", "string"),
}
"""The field of an asset that a rule comes from."""


def _call(code: int, organization: str, asset_id: UUID) -> tuple[str | None, str | None]:
    if code in _BY_ATTESTATION:
        return "POST", f"{organization}/attestations"
    if code in _BY_RULES:
        return "PATCH", f"{organization}/assets/{asset_id}"
    if code == rules.PAUSED:
        return "POST", f"{organization}/assets/{asset_id}/unpause"
    if code == rules.FROZEN:
        return "POST", f"{organization}/assets/{asset_id}/unfreeze"
    return None, None
