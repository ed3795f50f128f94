"""The bridge paths of a chain, as its drawer shows them."""

from dataclasses import dataclass, field

from backend.chains.schemas import BridgePath, PathToken
from state.core.dates import stamp


@dataclass
class PathTokenView:
    """A token whose settings were read from its end of the path; `agrees`: they match the current settings."""

    id: str
    symbol: str
    agrees: bool
    read_at: str


@dataclass
class PathView:
    """A path to another chain. `verifiers` are the addresses of its required DVNs on the sending chain."""

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
    tokens: list[PathTokenView] = field(default_factory=list)


def path_view(path: BridgePath) -> PathView:
    """Convert the API's path."""
    return PathView(
        id=str(path.destination_chain_eid),
        destination=path.destination_name,
        is_allowed=path.is_allowed,
        summary=path.summary,
        confirmations="" if path.confirmations is None else f"{path.confirmations:,}",
        verifiers=path.required_dvns,
        optional=path.optional_dvns,
        threshold=f"{path.optional_threshold} of {len(path.optional_dvns)}" if path.optional_dvns else "",
        send_library=path.send_library or "",
        receive_library=path.receive_library or "",
        gas="" if path.enforced_gas is None else f"{path.enforced_gas:,}",
        tokens=[_token_view(token) for token in path.tokens],
    )


def _token_view(token: PathToken) -> PathTokenView:
    return PathTokenView(token.token_address, token.symbol, token.agrees, stamp(token.read_at))
