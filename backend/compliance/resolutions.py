"""What would put a broken rule right, in words, and the call that does it.

Only calls that can really be made are named: none gives somebody tokens, or changes the rules of a market.
"""

from collections.abc import Sequence
from uuid import UUID

from backend.chain.restrictions import RESTRICTIONS
from backend.compliance import rules
from backend.compliance.schemas import Resolution, RuleVerdict

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


def resolved(verdicts: Sequence[RuleVerdict], organization_id: UUID, asset_id: UUID) -> list[RuleVerdict]:
    """The verdicts, the failed ones with what can be done about them."""
    return [v if v.passed else _with_resolution(v, organization_id, asset_id) for v in verdicts]


def _with_resolution(verdict: RuleVerdict, organization_id: UUID, asset_id: UUID) -> RuleVerdict:
    method, path = _call(verdict.code, f"/v1/orgs/{organization_id}", asset_id)
    words = RESTRICTIONS[verdict.code].resolution
    return verdict.model_copy(update={"resolution": Resolution(method=method, path=path, description=words)})


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
