"""Which chains an organization may use. Pure."""

from datetime import datetime, timedelta

from backend.chains.schemas import ChainStatus, Environment, VmType
from backend.errors import BadRequest
from backend.fields import Network


def environments(network: Network) -> tuple[Environment, ...]:
    """The environments a network reaches; the embedded chains count as testnets."""
    return (Environment.MAINNET,) if network is Network.MAINNET else (Environment.TESTNET, Environment.DEVNET)


def check_usable(
    name: str, vm_type: VmType, environment: Environment, network: Network, pointer: str | None = None
) -> None:
    """400 where operations on a chain are not possible for an organization (or key) of `network`. `pointer` is the
    field that named the chain."""
    if vm_type is VmType.SOLANA:
        detail = f"{name} runs the Solana VM; it is listed, but operations work on EVM chains only."
        raise BadRequest(detail, pointer=pointer)
    if environment not in environments(network):
        detail = f"{name} is a {environment} chain, and this credential or organization works on {network}."
        raise BadRequest(detail, pointer=pointer)


UNWATCHED = timedelta(minutes=2)
"""A chain that somebody follows is looked at far more often."""


def state(
    status: ChainStatus, error: str | None, checked_at: datetime | None, now: datetime
) -> tuple[ChainStatus, str | None]:
    """Status and last error as they are now: what was found long ago says nothing of the chain."""
    if checked_at is None or now - checked_at < UNWATCHED:
        return status, error
    return ChainStatus.DOWN, f"Nobody has looked at this chain since {checked_at:%Y-%m-%d %H:%M} UTC."
