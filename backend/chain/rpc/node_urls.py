"""The node URLs of each chain: from the operator's settings, or the embedded nodes of this data folder."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from backend.core.runtime import runtime
from backend.core.settings import settings


@dataclass(frozen=True, slots=True)
class Embedded:
    """A chain that we start ourselves, in place of a public one."""

    eid: int
    name: str
    chain_id: int
    """Private, so that nothing signed here can be replayed on the public chain."""

    @property
    def display_name(self) -> str:
        """Return the name that people read: that of the network, which is the devnet."""
        return f"{self.name.removesuffix(' Testnet')} Devnet"


EMBEDDED: Final = {
    chain.eid: chain
    for chain in (
        Embedded(40362, "HyperEVM Testnet", 1_340_362),
        Embedded(40161, "Sepolia", 1_340_161),
        Embedded(40245, "Base Sepolia", 1_340_245),
    )
}


@dataclass
class EmbeddedNodes:
    """The embedded nodes that this process has started: endpoint ID to RPC URL."""

    urls: dict[int, str] = field(default_factory=dict)


def ports_file(home: Path) -> Path:
    """Return the file that stores the embedded nodes' ports."""
    return home / "chains" / "ports.json"


def remembered(home: Path) -> dict[int, int]:
    """Return endpoint ID to port of the embedded nodes, as last started."""
    try:
        return {int(eid): int(port) for eid, port in json.loads(ports_file(home).read_text()).items()}
    except (FileNotFoundError, ValueError):
        return {}


def restoring_file(home: Path, eid: int) -> Path:
    """Return the file that exists while an embedded chain may lack transactions, because its node was killed."""
    return ports_file(home).parent / f"{eid}.restoring"


def is_restoring(eid: int) -> bool:
    """Return whether an embedded chain is being restored, in this process or in the one that started it."""
    return is_embedded(eid) and restoring_file(settings().home, eid).exists()


def starts() -> tuple[str, ...]:
    """Return what identifies the current processes of the embedded nodes; it differs after any of them has died."""
    folder = ports_file(settings().home).parent
    return tuple(_text(folder / f"{eid}.pid") for eid in sorted(embedded()))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def announce(urls: dict[int, str]) -> None:
    """Record the embedded nodes that this process started; an empty dict when they are stopped."""
    running = runtime.part(EmbeddedNodes).urls
    running.clear()
    running.update(urls)


def embedded(home: Path | None = None) -> dict[int, str]:
    """Return endpoint ID to RPC URL of the embedded nodes, also for a process that did not start them."""
    if running := runtime.part(EmbeddedNodes).urls:
        return dict(running)
    if not settings().embedded_chains:
        return {}
    return {eid: f"http://127.0.0.1:{port}" for eid, port in remembered(home or settings().home).items()}


def is_embedded(eid: int) -> bool:
    """Return whether a chain is embedded: nothing there has value, and its clock can be moved."""
    return eid in embedded()


def urls_of(eid: int) -> list[str]:
    """Return the RPC URLs of a chain in order of use; none if the operator configured none."""
    chosen = settings().rpc_urls.get(eid)
    if chosen:
        return list(chosen)
    url = embedded().get(eid)
    return [] if url is None else [url]


def reachable() -> list[int]:
    """Return every chain that has a node."""
    return sorted({*settings().rpc_urls, *embedded()})
