"""Rules of which chains an organization may use. Pure functions."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from backend.core.errors import BadRequest
from backend.core.fields import ChainStatus, Environment, Network, VmType
from backend.core.problems import resolutions


def environments(network: Network) -> tuple[Environment, ...]:
    """Return the environments of a network; embedded chains count as testnets."""
    return (Environment.MAINNET,) if network is Network.MAINNET else (Environment.TESTNET, Environment.DEVNET)


def check_usable(
    name: str, vm_type: VmType, environment: Environment, network: Network, pointer: str | None = None
) -> None:
    """Raise 400 if an organization (or key) of `network` cannot operate on a chain. `pointer` is the field that named
    the chain."""
    if vm_type is VmType.SOLANA:
        detail = f"{name} runs the Solana VM. It is listed, but only EVM chains support operations."
        raise BadRequest(detail, pointer=pointer)
    if environment not in environments(network):
        detail = f"{name} is a {environment} chain, but this credential or organization works on {network}."
        raise BadRequest(detail, pointer=pointer)


def enabled_entry(organization_id: UUID, chain_id: UUID, name: str, *, is_enabled: bool) -> dict[str, Any]:
    """Return the prerequisite `chain_enabled`, with the call that satisfies it (specification 2.7)."""
    return {
        "state": "chain_enabled",
        "satisfied": is_enabled,
        "detail": f"{name} is enabled." if is_enabled else f"{name} is not enabled. Nothing new starts there.",
        "resolution": enable_call(organization_id, chain_id, name),
    }


def enable_call(organization_id: UUID, chain_id: UUID, name: str) -> dict[str, Any]:
    """Return the call that enables a chain."""
    return resolutions.call("POST", f"/orgs/{organization_id}/chains/{chain_id}/enable", f"Enable {name}.")


def not_enabled(names: Sequence[str]) -> list[str]:
    """Return why nothing new starts on some chains, and what to do; nothing without a chain."""
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} is not enabled for this organization. Enable it first."]
    return [f"{', '.join(names[:-1])} and {names[-1]} are not enabled for this organization. Enable them first."]


UNWATCHED = timedelta(minutes=2)
"""A followed chain is checked far more often."""


def state(
    status: ChainStatus, error: str | None, checked_at: datetime | None, now: datetime
) -> tuple[ChainStatus, str | None]:
    """Return current status and last error: an old result says nothing about the chain."""
    if checked_at is None or now - checked_at < UNWATCHED:
        return status, error
    return ChainStatus.DOWN, (
        f"This chain was last checked at {checked_at:%Y-%m-%d %H:%M} UTC; its current state is unknown."
    )
