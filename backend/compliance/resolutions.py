"""Resolutions of refusals: a description, and the API call.

Only calls that the caller can actually make are named: none gives tokens to an account, or changes the rules of a
market. Test funds exist on embedded chains only.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.compliance import rules
from backend.compliance.resolution_fields import BY_ATTESTATION, BY_RULES, fields_of
from backend.compliance.schemas import Resolution, ResolutionBody, RuleVerdict
from backend.core.problems.resolutions import body, call, known
from backend.core.settings import settings

REVIEW: Final = "Review the party's case before you attest it again."
ASK: Final = "A compliance officer of the organization must review the account."


def resolved(verdicts: Sequence[RuleVerdict], organization_id: UUID, asset_id: UUID, eid: int) -> list[RuleVerdict]:
    """Return the verdicts on a movement on a chain, the failed ones with their resolution."""
    return [v if v.passed else _with_resolution(v, organization_id, asset_id, eid) for v in verdicts]


def test_funds(organization_id: UUID, wallet_id: UUID, eid: int, amount: int) -> dict[str, Any]:
    """Return the call that pays the missing base units of the test currency to a wallet."""
    path = f"/orgs/{organization_id}/wallets/{wallet_id}/test-funds"
    words = f"Get test funds on the chain {eid}: at least {amount} base units."
    return call("POST", path, words, chain_eid=known(eid))


def _with_resolution(verdict: RuleVerdict, organization_id: UUID, asset_id: UUID, eid: int) -> RuleVerdict:
    return verdict.model_copy(update={"resolution": resolution_of(verdict.code, organization_id, asset_id, eid)})


def resolution_of(code: int, organization_id: UUID, asset_id: UUID, eid: int, **known_fields: Any) -> Resolution:
    """Return the resolution of a broken rule. `known_fields`: values of its call's body that the caller knows."""
    method, path = _call(code, f"/orgs/{organization_id}", asset_id)
    fields = fields_of(code, eid)
    fields |= {name: known(value) for name, value in known_fields.items() if name in fields}
    href = settings().base_url + path if path else None
    resolution = Resolution(method=method, path=path, href=href, description=RESTRICTIONS[code].resolution)
    if path and fields:
        resolution.body = ResolutionBody.model_validate(body(**fields))
    return resolution


def review(organization_id: UUID, party_id: UUID | None) -> Resolution:
    """Return the resolution for an account whose attestation was revoked: a review of its party's case. Without a
    party, words alone, for a caller who may not read attestations."""
    if party_id is None:
        return Resolution(method=None, path=None, href=None, description=ASK)
    path = f"/identity/parties/{party_id}?organization_id={organization_id}"
    return Resolution(method="GET", path=path, href=settings().base_url + path, description=REVIEW)


def _call(code: int, organization: str, asset_id: UUID) -> tuple[str | None, str | None]:
    if code in BY_ATTESTATION:
        return "POST", f"{organization}/attestations"
    if code in BY_RULES:
        return "PATCH", f"{organization}/assets/{asset_id}"
    if code == rules.PAUSED:
        return "POST", f"{organization}/assets/{asset_id}/unpause"
    if code == rules.FROZEN:
        return "POST", f"{organization}/assets/{asset_id}/unfreeze"
    return None, None
