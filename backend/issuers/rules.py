"""How an issuer stands with its chains. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.errors import BadRequest
from backend.issuers.schemas import DEFAULT_MAX_LEVEL, IssuerRegister, IssuerStatus


@dataclass(frozen=True)
class Terms:
    """What the registry writes beside an attester's address."""

    name: str
    max_kyc_level: int
    can_revoke_others: bool


def terms(body: IssuerRegister, known: Terms | None, organization_name: str) -> Terms:
    """What was sent; what was left out stays as it was, at first the defaults and the organization's name."""
    sent = {key: value for key, value in body.model_dump(exclude_unset=True).items() if value is not None}
    base = known or Terms(organization_name, DEFAULT_MAX_LEVEL, can_revoke_others=False)
    return Terms(**{**base.__dict__, **sent})


def check_ready(has_wallet: bool, chain_count: int) -> None:
    """400 where there is nothing to register, or nowhere."""
    if not has_wallet:
        raise BadRequest("No server wallet is provisioned; create one first (POST /v1/orgs/{orgId}/wallets).")
    if not chain_count:
        raise BadRequest("No chain is enabled; enable one first (POST /v1/orgs/{orgId}/chains/{chainId}/enable).")


def unregistered(enabled: Iterable[int], states: dict[int, IssuerStatus]) -> set[int]:
    """The enabled chains that have not confirmed the attester."""
    return {eid for eid in enabled if states.get(eid) is not IssuerStatus.REGISTERED}
