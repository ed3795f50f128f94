"""The node check of the chain in the drawer."""

from dataclasses import dataclass, field

import reflex as rx

from backend.chains.schemas import CheckedNode, NodeCheck
from backend.client import ApiProblem
from state.chains.list import ChainsState
from state.core.api import Api
from state.core.dates import stamp
from state.core.events import Events


@dataclass
class CheckLineView:
    """One check."""

    name: str = ""
    level: str = ""
    found: str = ""
    effect: str = ""


@dataclass
class CheckedNodeView:
    """The result for one node."""

    name: str = ""
    standing: str = ""
    """`good_enough`, `not_good_enough` or `no_answer`."""
    summary: str = ""
    advice: str = ""
    lines: list[CheckLineView] = field(default_factory=list)


class NodeChecks(Api, rx.State):
    """The last check and its chain."""

    chain_id: str = ""
    nodes: list[CheckedNodeView] = []
    setting: str = ""
    checked_at: str = ""
    busy: bool = False
    problem: str = ""

    @rx.event
    async def run(self) -> Events:
        """Check the nodes of the chain in the drawer."""
        chain_id = (await self.get_state(ChainsState)).chosen.id
        if self.busy or not chain_id:
            return
        self.chain_id, self.nodes, self.setting, self.problem, self.busy = chain_id, [], "", "", True
        yield
        try:
            self._take(await self._api.check_nodes(self._org_id(), chain_id))
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
        self.busy = False

    def _take(self, check: NodeCheck) -> None:
        self.nodes = [_node_view(node) for node in check.nodes]
        self.setting, self.checked_at = check.setting or "", stamp(check.checked_at)


def _node_view(node: CheckedNode) -> CheckedNodeView:
    return CheckedNodeView(
        name=node.name,
        standing="good_enough" if node.good_enough else "not_good_enough" if node.answers else "no_answer",
        summary=node.summary,
        advice=" ".join(node.advice),
        lines=[CheckLineView(line.name, line.level, line.found, line.effect) for line in node.lines],
    )
