"""Chains of the chain list as pages show them."""

from collections.abc import Set
from dataclasses import dataclass, field

from backend.chains.schemas import ChainAlarm, OrganizationChain
from backend.core.fields import VmType
from state.bridges.paths import PathView, path_view
from state.core.dates import stamp

ALARMS = {
    "deep_reorg": "Indexing has stopped",
    "difference": "Tables and chain differ",
    "executed_twice": "An operation was executed twice",
    "unreadable": "A contract cannot be read",
}


@dataclass
class ContractView:
    """One of our contracts on a chain."""

    name: str
    address: str
    url: str


@dataclass
class AlarmView:
    """A problem that needs the operator."""

    title: str
    detail: str
    since: str


@dataclass
class ChainDetail:
    """A chain of the chain list; `obstacle` says why it cannot be enabled here, `missing` what the operator still has
    to do, `in_progress` the requests that finish if it is disabled. All can be empty."""

    id: str = ""
    name: str = ""
    eid: int = 0
    chain_id: str = ""
    environment: str = ""
    vm: str = ""
    layer: str = ""
    currency: str = ""
    status: str = ""
    height: str = ""
    lag: str = ""
    error: str = ""
    missing: str = ""
    checked_at: str = ""
    success: str = ""
    safe_height: str = ""
    final_height: str = ""
    confirmations: str = ""
    block_time: str = ""
    has_node: bool = False
    alarms: list[AlarmView] = field(default_factory=list)
    explorer: str = ""
    rpc: str = ""
    is_deployed: bool = False
    is_enabled: bool = False
    in_progress: str = ""
    obstacle: str = ""
    contracts: list[ContractView] = field(default_factory=list)
    paths: list[PathView] = field(default_factory=list)


def chain_detail(chain: OrganizationChain, obstacle: str) -> ChainDetail:
    """Convert a chain; `obstacle` is why it cannot be enabled."""
    return ChainDetail(
        id=chain.id,
        name=chain.display_name or chain.chain_name or "",
        eid=chain.xchain_eid or 0,
        chain_id=str(chain.native_chain_id or ""),
        environment=chain.environment or "",
        vm=chain.vm_type or "",
        layer=chain.chain_layer or "",
        currency=chain.native_currency_symbol or "",
        status=chain.status or "",
        height=_number(chain.height),
        safe_height=_number(chain.safe_height),
        final_height=_number(chain.final_height),
        success=chain.terms.summary if chain.terms else "",
        confirmations=_blocks(chain.terms.confirmations) if chain.terms else "",
        block_time=f"{chain.terms.block_time:g} seconds" if chain.terms else "",
        has_node=chain.checked_at is not None or bool(chain.missing),
        alarms=[_alarm_view(alarm) for alarm in chain.alarms],
        lag=_blocks(chain.lag),
        error=chain.last_error or "",
        missing=chain.missing or "",
        checked_at=stamp(chain.checked_at),
        explorer=(chain.explorer_url or "").rstrip("/"),
        rpc=chain.rpc_url or "",
        is_deployed=bool(chain.is_signum_deployed),
        is_enabled=chain.enabled,
        in_progress=in_progress(chain.requests_in_progress),
        obstacle=obstacle,
        contracts=_contracts(chain),
        paths=[path_view(path) for path in chain.paths],
    )


def in_progress(requests: int) -> str:
    """Return how many requests finish on a disabled chain, as a sentence; empty for zero."""
    if requests == 0:
        return ""
    return "1 request in progress finishes." if requests == 1 else f"{requests:,} requests in progress finish."


def _number(height: int | None) -> str:
    return "" if height is None else f"{height:,}"


def _blocks(blocks: int | None) -> str:
    if blocks is None:
        return ""
    return "none" if blocks == 0 else f"{blocks:,} block{'' if blocks == 1 else 's'}"


def _alarm_view(alarm: ChainAlarm) -> AlarmView:
    return AlarmView(ALARMS.get(alarm.kind, "Operator action needed"), alarm.detail, stamp(alarm.since))


def _contracts(chain: OrganizationChain) -> list[ContractView]:
    """Return our contracts on a chain, with their pages in its explorer."""
    explorer = (chain.explorer_url or "").rstrip("/")
    addresses = {
        "Attestation registry": chain.attestation_registry_address,
        "Market factory": chain.market_factory_address,
        "Messaging endpoint": chain.endpoint_address,
        "Quote token": chain.quote_token_address,
    }
    return [
        ContractView(name, address, f"{explorer}/address/{address}" if explorer else "")
        for name, address in addresses.items()
        if address
    ]


def obstacle_of(chain: OrganizationChain, is_usable: bool, network: Set[str]) -> str:
    """Return why an organization cannot enable a chain; `network` are the environments of those that it can use."""
    if not is_usable:
        ours = " and ".join(sorted(network)) or "another network"
        return f"A {chain.environment} chain; this organization uses {ours}."
    if chain.vm_type is VmType.SOLANA:
        return "It runs the Solana VM. Operations support EVM chains only."
    if not chain.is_signum_deployed:
        return "This installation has no Signum contracts on this chain."
    return ""
