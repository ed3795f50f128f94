"""Fields of the calls that resolve a broken rule."""

from typing import Any, Final

from backend.compliance import rules
from backend.core.problems.resolutions import body, known
from backend.core.problems.samples import REASON

BY_ATTESTATION = frozenset(
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
OF_SENDER = frozenset({rules.SENDER_NOT_ATTESTED})
"""Rules that an attestation of the sender satisfies; the others need one of the receiver or trader."""
BY_RULES = frozenset(
    {
        rules.RULES_NOT_SET,
        rules.LOCKUP,
        rules.SENDER_COUNTRY_BLOCKED,
        rules.RECEIVER_COUNTRY_BLOCKED,
        rules.MAX_HOLDERS,
        rules.MAX_PER_HOLDER,
    }
)


def fields_of(code: int, eid: int) -> dict[str, Any]:
    """Return the fields of the call's body. The party of an account, and what to allow, is the caller's to know."""
    if code in BY_ATTESTATION:
        return {"party_id": {"type": "string", "format": "uuid"}, "chain_eid": known(eid)}
    if code in BY_RULES:
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
