"""Validation of the settings about chains against the chain list, before startup."""

from collections.abc import Iterator

from backend.chain.chain_list import CHAINS
from backend.core.errors import CannotStart
from backend.core.settings import Settings


def check(settings: Settings) -> None:
    """Raise CannotStart with a line for each mistake. Facts that only a chain knows are checked when it answers."""
    mistakes = list(_mistakes(settings))
    if mistakes:
        raise CannotStart("\n".join(mistakes))


def _mistakes(settings: Settings) -> Iterator[str]:
    evm = {entry.eid for entry in CHAINS if entry.chain_id is not None}
    for eid in sorted(settings.rpc_urls):
        if eid not in evm:
            yield f"SIGNUM_RPC_URLS names {eid}, which is not an endpoint ID of an EVM chain in the chain list."
    for name, eids in (
        ("SIGNUM_ENDPOINTS", settings.endpoints),
        ("SIGNUM_QUOTE_TOKENS", settings.quote_tokens),
        ("SIGNUM_CONFIRMATIONS", settings.confirmations),
        ("SIGNUM_CHAIN_TERMS", settings.chain_terms),
    ):
        for eid in sorted(set(eids) - set(settings.rpc_urls)):
            yield f"{name} names the chain {eid}, but SIGNUM_RPC_URLS has no node for it."
    yield from _path_mistakes(settings)


def _path_mistakes(settings: Settings) -> Iterator[str]:
    networks = {entry.eid: entry.environment for entry in CHAINS if entry.chain_id is not None}
    for source, destinations in sorted(settings.bridge_paths.items()):
        for destination in sorted(destinations):
            path = f"SIGNUM_BRIDGE_PATHS names a path from {source} to {destination}"
            unknown = [eid for eid in (source, destination) if eid not in networks]
            if unknown:
                yield f"{path}; {unknown[0]} is not an endpoint ID of an EVM chain in the chain list."
            elif source == destination:
                yield f"{path}; a path must lead to another chain."
            elif networks[source] is not networks[destination]:
                yield f"{path}; one chain is a mainnet and the other a testnet."
            elif settings.rpc_urls and (missing := {source, destination} - set(settings.rpc_urls)):
                yield f"{path}; SIGNUM_RPC_URLS has no node for {min(missing)}."
