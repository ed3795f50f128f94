"""The node check of the chain that is open on the Chains page."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Api
from state.registry import Registry


@dataclass
class CheckLine:
    """One thing that was checked."""

    name: str = ""
    level: str = ""
    found: str = ""
    effect: str = ""


@dataclass
class NodeVerdict:
    """What one node is good for."""

    name: str = ""
    standing: str = ""
    """`good_enough`, `not_good_enough` or `no_answer`."""
    summary: str = ""
    advice: str = ""
    lines: list[CheckLine] = field(default_factory=list)


class NodeChecks(Api, rx.State):
    """The last check, and the chain it belongs to."""

    chain_id: str = ""
    nodes: list[NodeVerdict] = []
    setting: str = ""
    checked_at: str = ""
    busy: bool = False
    problem: str = ""

    @rx.event
    async def run(self):
        """Check the nodes of the open chain."""
        chain_id = (await self.get_state(Registry)).chosen.id
        if self.busy or not chain_id:
            return
        self.chain_id, self.nodes, self.setting, self.problem, self.busy = chain_id, [], "", "", True
        yield
        try:
            self._take(await self._api("GET", f"/orgs/{{org}}/chains/{chain_id}/check"))
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
        self.busy = False

    def _take(self, check: dict[str, Any]) -> None:
        self.nodes = [_verdict(node) for node in check["nodes"]]
        self.setting, self.checked_at = check["setting"] or "", check["checked_at"]


def _verdict(node: dict[str, Any]) -> NodeVerdict:
    standing = "good_enough" if node["good_enough"] else "not_good_enough" if node["answers"] else "no_answer"
    lines = [CheckLine(line["name"], line["level"], line["found"], line["effect"]) for line in node["lines"]]
    return NodeVerdict(node["name"], standing, node["summary"], " ".join(node["advice"]), lines)
