"""Where each chain's node is: the operator's settings, or the embedded nodes of this data folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from backend.settings import settings


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chain we start ourselves, in the place of a public one."""

    eid: int
    chain_key: str
    name: str
    chain_id: int
    """Private, so that nothing signed here could be replayed on the public chain."""


EMBEDDED: Final = {
    chain.eid: chain
    for chain in (
        Embedded(40362, "hyperliquid-testnet", "HyperEVM Testnet", 1_340_362),
        Embedded(40161, "sepolia", "Sepolia", 1_340_161),
        Embedded(40245, "base-sepolia", "Base Sepolia", 1_340_245),
    )
}

_running: dict[int, str] = {}


def ports_file(home: Path) -> Path:
    """Where the embedded nodes' ports are remembered."""
    return home / "chains" / "ports.json"


def remembered(home: Path) -> dict[int, int]:
    """Endpoint id to port of the embedded nodes, as last started."""
    try:
        return {int(eid): int(port) for eid, port in json.loads(ports_file(home).read_text()).items()}
    except (FileNotFoundError, ValueError):
        return {}


def announce(urls: dict[int, str]) -> None:
    """The embedded nodes this process started; an empty dict when they are stopped."""
    _running.clear()
    _running.update(urls)


def embedded(home: Path | None = None) -> dict[int, str]:
    """Endpoint id to RPC URL of the embedded nodes, also for a process that did not start them."""
    if _running:
        return dict(_running)
    if not settings().embedded_chains:
        return {}
    return {eid: f"http://127.0.0.1:{port}" for eid, port in remembered(home or settings().home).items()}


def is_embedded(eid: int) -> bool:
    """Whether a chain is one of ours, where nothing has value and time can be moved."""
    return eid in embedded()


def urls_of(eid: int) -> list[str]:
    """The RPC URLs of a chain in the order they are asked; none where the operator gave none."""
    chosen = settings().rpc_urls.get(eid)
    if chosen:
        return list(chosen)
    url = embedded().get(eid)
    return [] if url is None else [url]


def reachable() -> list[int]:
    """Every chain that has a node."""
    return sorted({*settings().rpc_urls, *embedded()})


def confirmations(eid: int) -> int:
    """Blocks that must lie on top of a transaction's block before it counts as included."""
    from backend.chain.terms import terms_of

    return terms_of(eid).confirmations
