"""Registration status of an issuer on its chains. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from backend.chains.rules import enable_call
from backend.core.errors import BadRequest
from backend.issuers.schemas import DEFAULT_MAX_LEVEL, IssuerRegister, IssuerStatus
from backend.wallets.rules import server_wallet_call


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


def check_ready(organization_id: UUID, has_wallet: bool, chain_count: int, usable: Mapping[UUID, str]) -> None:
    """Raise 400 with its resolution if there is no wallet to register, or no enabled chain. `usable` are the names of
    the chains that could be enabled, by ID; the first is recommended."""
    if not has_wallet:
        resolution = server_wallet_call(organization_id)
        raise BadRequest("The organization has no server wallet. Create one first.", resolution=resolution)
    if not chain_count:
        chain_id, name = next(iter(usable.items()), (None, ""))
        raise BadRequest(
            "No chain is enabled. Enable one first.",
            resolution=enable_call(organization_id, chain_id, name) if chain_id else None,
        )


def unregistered(enabled: Iterable[int], states: dict[int, IssuerStatus]) -> set[int]:
    """Return the enabled chains that have not confirmed the attester."""
    return {eid for eid in enabled if states.get(eid) is not IssuerStatus.REGISTERED}
