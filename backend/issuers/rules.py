"""Registration status of an issuer on its chains. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.core.errors import BadRequest
from backend.issuers.schemas import DEFAULT_MAX_LEVEL, IssuerRegister, IssuerStatus


@dataclass(frozen=True)
class Terms:
    """What the registry stores with an attester's address."""

    name: str
    max_kyc_level: int
    can_revoke_others: bool


def terms(body: IssuerRegister, known: Terms | None, organization_name: str) -> Terms:
    """Return the requested terms; omitted fields keep their value, initially the defaults and the organization's
    name."""
    sent = {key: value for key, value in body.model_dump(exclude_unset=True).items() if value is not None}
    base = known or Terms(organization_name, DEFAULT_MAX_LEVEL, can_revoke_others=False)
    return Terms(**{**base.__dict__, **sent})


def check_ready(has_wallet: bool, chain_count: int) -> None:
    """Raise 400 if there is no wallet to register, or no enabled chain."""
    if not has_wallet:
        raise BadRequest("The organization has no server wallet. Create one first (POST /v1/orgs/{orgId}/wallets).")
    if not chain_count:
        raise BadRequest("No chain is enabled. Enable one first (POST /v1/orgs/{orgId}/chains/{chainId}/enable).")


def unregistered(enabled: Iterable[int], states: dict[int, IssuerStatus]) -> set[int]:
    """Return the enabled chains that have not confirmed the attester."""
    return {eid for eid in enabled if states.get(eid) is not IssuerStatus.REGISTERED}
