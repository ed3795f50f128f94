"""The bridge paths of a chain, as its drawer shows them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class PathToken:
    """A token whose end of the path was read back; `agrees` with the settings of now or not."""

    id: str
    symbol: str
    agrees: bool
    read_at: str


@dataclass
class Path:
    """A path to another chain. `verifiers` are the addresses of its required DVNs on the chain that sends."""

    id: str
    destination: str
    is_allowed: bool
    summary: str
    confirmations: str
    verifiers: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)
    threshold: str = ""
    send_library: str = ""
    receive_library: str = ""
    gas: str = ""
    tokens: list[PathToken] = field(default_factory=list)


def paths_of(chain: dict[str, Any]) -> list[Path]:
    """Return the paths of a chain that the API tells of; none where it tells of the registry alone."""
    return [_path(path) for path in chain.get("paths", [])]


def _path(path: dict[str, Any]) -> Path:
    has_settings = path["confirmations"] is not None
    return Path(
        id=str(path["destination_chain_eid"]),
        destination=path["destination_name"],
        is_allowed=path["is_allowed"],
        summary=path["summary"],
        confirmations=f"{path['confirmations']:,}" if has_settings else "",
        verifiers=path["required_dvns"],
        optional=path["optional_dvns"],
        threshold=f"{path['optional_threshold']} of {len(path['optional_dvns'])}" if path["optional_dvns"] else "",
        send_library=path["send_library"] or "",
        receive_library=path["receive_library"] or "",
        gas=f"{path['enforced_gas']:,}" if has_settings else "",
        tokens=[
            PathToken(token["token_address"], token["symbol"], token["agrees"], token["read_at"])
            for token in path["tokens"]
        ],
    )
