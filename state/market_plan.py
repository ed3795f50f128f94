"""Where a market can be, and what deploying it would do."""

from dataclasses import dataclass, field
from typing import Any

from state.chain_list import ChainView


@dataclass
class Target:
    """A chain to choose, and whether the asset's token is there."""

    eid: int = 0
    name: str = ""
    status: str = ""
    factory: str = ""
    quote: str = ""
    token: str = ""
    obstacle: str = ""


@dataclass
class PlanRow:
    """A step of the plan."""

    name: str
    title: str
    detail: str
    chain: str
    gas: str


@dataclass
class Plan:
    """What deploying would do."""

    will_bridge: bool = False
    source: str = ""
    eligible: int = 0
    gas: str = ""
    steps: list[PlanRow] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def plan_of(answer: dict[str, Any], source: str) -> Plan:
    """Read the dry run's answer; `source` is the name of the chain that a bridge comes from."""
    impact = answer["impact"]
    gas = sum(step["gas_estimate"] or 0 for step in answer["steps"])
    return Plan(
        will_bridge=impact["will_bridge"],
        source=source if impact["will_bridge"] else "",
        eligible=impact["eligible_parties"],
        gas=f"{gas:,}" if gas else "",
        steps=[_row(step) for step in answer["steps"]],
        warnings=impact["warnings"],
    )


def _row(step: dict[str, Any]) -> PlanRow:
    return PlanRow(
        name=step["name"],
        title=step["title"],
        detail=step["detail"],
        chain=step["chain_name"],
        gas=f"{step['gas_estimate']:,}" if step["gas_estimate"] is not None else "",
    )


def target_of(chain: ChainView, tokens: dict[int, str], taken: set[int]) -> Target:
    """Read a chain as a place for a market; `tokens` by chain, `taken` where a market of the asset is already."""
    if chain.eid in taken:
        obstacle = "A market of this asset is here already"
    elif not chain.factory:
        obstacle = "No market factory on this chain"
    elif chain.status == "down":
        obstacle = "This chain does not answer"
    else:
        obstacle = ""
    return Target(
        eid=chain.eid,
        name=chain.name,
        status=chain.status,
        factory=chain.factory,
        quote=chain.quote_symbol,
        token=tokens.get(chain.eid, ""),
        obstacle=obstacle,
    )
