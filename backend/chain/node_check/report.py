"""The report of a node check, for people and programs."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from backend.chain.node_check.verdict import Verdict


@dataclass
class Report:
    """The nodes of a chain, each with its verdict. `chain_terms` is the current setting for all chains."""

    eid: int
    name: str
    success: str
    """When a request on the chain succeeds, as text."""
    verdicts: list[Verdict] = field(default_factory=list)
    chain_terms: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 if every node is good enough, 1 if one is not, 2 if one does not answer."""
        if any(verdict.answers and not verdict.is_good_enough for verdict in self.verdicts):
            return 1
        return 0 if all(verdict.answers for verdict in self.verdicts) else 2

    @property
    def settings(self) -> dict[str, Any]:
        """The terms that fit all nodes that answer: the smallest of each number, the largest of confirmations."""
        found: dict[str, Any] = {}
        for verdict in self.verdicts:
            for name, value in verdict.settings.items():
                choose = max if name in ("safe", "final") else min
                found[name] = choose(found.get(name, value), value)
        return found

    @property
    def setting(self) -> str | None:
        """The whole value of SIGNUM_CHAIN_TERMS with the terms that fit; None if no change is needed."""
        own = self._own()
        return None if own is None else json.dumps(self.chain_terms | own)

    @property
    def own_setting(self) -> str | None:
        """As `setting`, without other chains."""
        own = self._own()
        return None if own is None else json.dumps(own)

    def _own(self) -> dict[str, Any] | None:
        if not self.settings:
            return None
        return {str(self.eid): self.chain_terms.get(str(self.eid), {}) | self.settings}

    def as_json(self) -> str:
        """Return the report as JSON, for programs."""
        nodes = [asdict(verdict) for verdict in self.verdicts]
        body = {"eid": self.eid, "name": self.name, "success": self.success, "nodes": nodes, "setting": self.setting}
        return json.dumps(body, indent=2)

    def as_text(self) -> str:
        """Return the report as text: the lines of each node, its verdict, and what to change."""
        parts = [f"{self.name} ({self.eid}). {self.success}"]
        parts += [_node(verdict) for verdict in self.verdicts]
        if self.setting is not None:
            parts.append(f"Settings that fit:\n  SIGNUM_CHAIN_TERMS='{self.setting}'")
        return "\n\n".join(parts)


def _node(verdict: Verdict) -> str:
    rows = [f"  {line.level.value:<8}{line.name:<17}{line.found} {line.effect}".rstrip() for line in verdict.lines]
    return "\n".join([verdict.host, *rows, f"  {verdict.summary}", *(f"  {advice}" for advice in verdict.advice)])
