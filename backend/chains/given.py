"""What the settings say of chains, held against the registry before anything starts."""

from collections.abc import Iterator

from backend.chains.registry import CHAINS
from backend.errors import CannotStart
from backend.settings import Settings


def check(settings: Settings) -> None:
    """Raise CannotStart with a line for each mistake. What only a chain can tell is looked at when it answers."""
    mistakes = list(_mistakes(settings))
    if mistakes:
        raise CannotStart("\n".join(mistakes))


def _mistakes(settings: Settings) -> Iterator[str]:
    evm = {entry.eid for entry in CHAINS if entry.chain_id is not None}
    for eid in sorted(settings.rpc_urls):
        if eid not in evm:
            yield f"SIGNUM_RPC_URLS names {eid}, which is no endpoint id of an EVM chain in the registry."
    for name, eids in (
        ("SIGNUM_ENDPOINTS", settings.endpoints),
        ("SIGNUM_QUOTE_TOKENS", settings.quote_tokens),
        ("SIGNUM_CONFIRMATIONS", settings.confirmations),
    ):
        for eid in sorted(set(eids) - set(settings.rpc_urls)):
            yield f"{name} names the chain {eid}, for which SIGNUM_RPC_URLS has no node."
