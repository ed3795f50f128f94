"""The chains that a market can be deployed on, and the plan of a deployment."""

from dataclasses import dataclass, field
from decimal import Decimal

from backend.markets.schemas import MarketPlan, PlanStep
from state.chains.lookup import ChainView
from state.compliance.cap_words import cap_changes, confirmation


@dataclass
class Target:
    """A chain to choose, and whether the asset's token is on it."""

    eid: int = 0
    name: str = ""
    status: str = ""
    factory: str = ""
    quote: str = ""
    token: str = ""
    obstacle: str = ""


@dataclass
class PlanStepView:
    """A step of the plan."""

    name: str
    title: str
    detail: str
    chain: str
    gas: str


@dataclass
class Plan:
    """The effects of a deployment."""

    will_bridge: bool = False
    source: str = ""
    eligible: int = 0
    cost: str = ""
    """What the gas may cost at its present price, as text."""
    steps: list[PlanStepView] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    caps: list[dict[str, str]] = field(default_factory=list)
    """The limits of the chains that the deployment changes."""
    confirmation: str = ""
    """What has to be confirmed before; empty if no chain's limit changes."""


def plan_of(answer: MarketPlan, source: str, symbol: str, decimals: int) -> Plan:
    """Convert the dry run's response; `source` is the name of the chain that a bridge starts from."""
    impact = answer.impact
    return Plan(
        will_bridge=impact.will_bridge,
        source=source if impact.will_bridge else "",
        eligible=impact.eligible_parties,
        cost=" and ".join(f"{_about(one.amount)} {one.currency} on {one.chain_name}" for one in impact.costs),
        steps=[_step_view(step, source) for step in answer.steps],
        warnings=impact.warnings,
        caps=cap_changes(impact.caps, symbol, decimals),
        confirmation=confirmation(impact.caps, symbol, decimals),
    )


def _about(wei: str) -> str:
    """Return an amount of gas as people compare it: 2 decimals, below one 2 significant digits."""
    amount = Decimal(wei).scaleb(-18)
    return f"{amount:,.{max(2, 1 - amount.adjusted()) if amount else 0}f}"


def _step_view(step: PlanStep, source: str) -> PlanStepView:
    """Convert a step; what prepares a bridge is sent to both of its chains."""
    both = step.name == "bridge_pending" and source
    return PlanStepView(
        name=step.name,
        title=step.title,
        detail=step.detail,
        chain=f"{step.chain_name} and {source}" if both else step.chain_name,
        gas=f"{step.gas_estimate:,}" if step.gas_estimate is not None else "",
    )


def target_of(chain: ChainView, tokens: dict[int, str], taken: set[int]) -> Target:
    """Convert a chain to a target; `tokens` by chain, `taken` are chains that already have a market of the asset."""
    if chain.eid in taken:
        obstacle = "This asset already has a market here"
    elif not chain.factory:
        obstacle = "No market factory on this chain"
    elif chain.status == "down":
        obstacle = "This chain is not responding"
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
