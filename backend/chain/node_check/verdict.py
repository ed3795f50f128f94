"""The verdict on a node's facts, and the settings that fit it. Pure functions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backend.chain.node_check.facts import NodeFacts, Tag
from backend.chain.node_check.lines import Level, Line, Site, can_pin, is_believed, lines_of
from backend.chain.rpc.finality import UNTAGGED
from backend.chain.rpc.terms import FINALIZED, SAFE

LEAST_DEPTH = 128
"""Minimum number of blocks that replace a tag."""


@dataclass
class Verdict:
    """The verdict on a node. `settings`: terms of the chain that fit the node, in the format of
    `SIGNUM_CHAIN_TERMS`."""

    host: str
    answers: bool
    is_good_enough: bool
    summary: str
    lines: list[Line] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)


def judge(facts: NodeFacts, site: Site) -> Verdict:
    """Return the verdict on a node."""
    if facts.failure is not None:
        return Verdict(facts.host, False, False, facts.failure)
    lines = list(lines_of(facts, site))
    settings = fitting(facts, site)
    missing = [line for line in lines if line.level is Level.MISSING]
    verdict = Verdict(facts.host, True, not missing, _summary(missing, facts, site), lines, settings)
    verdict.advice = [*_advice(verdict, facts), *facts.notes]
    return verdict


def _summary(missing: list[Line], facts: NodeFacts, site: Site) -> str:
    if not missing:
        return "Good enough."
    if all(line.name in _settled(facts, site) for line in missing):
        return "Not good enough with the current settings; good enough with the settings below."
    return f"Not good enough: {', '.join(line.name.lower() for line in missing)}."


def _settled(facts: NodeFacts, site: Site) -> set[str]:
    """Return the names of the lines that the fitting settings resolve."""
    names = {"Finalized tag": "final" in fitting(facts, site), "Safe tag": "safe" in fitting(facts, site)}
    names["Older blocks"] = can_pin(facts)
    return {name for name, is_settled in names.items() if is_settled}


def _advice(verdict: Verdict, facts: NodeFacts) -> Iterator[str]:
    if facts.limited or (facts.pool is not None and facts.pool.apart):
        yield "Add the URL of a second provider to SIGNUM_RPC_URLS: it is used while the first one limits its callers."
    if not verdict.is_good_enough and "with the settings below" not in verdict.summary:
        yield "Use another provider for this chain, or another plan of the same one."


def fitting(facts: NodeFacts, site: Site) -> dict[str, Any]:
    """Return the terms to override so that they fit the node; empty if the current terms do, and for embedded chains,
    whose terms are fixed."""
    terms, found = site.terms, dict[str, Any]()
    if site.is_embedded:
        return found
    if facts.log_range and facts.log_range < min(terms.log_range, facts.log_range_asked):
        found["log_range"] = facts.log_range
    if facts.batch is not None and facts.batch < min(terms.batch, facts.batch_asked):
        found["batch"] = facts.batch
    reach = _reach(facts)
    if reach is not None and (terms.history is None or reach < terms.history):
        found["history"] = reach
    return found | _depths(facts, site)


def _depths(facts: NodeFacts, site: Site) -> dict[str, int]:
    """Return block numbers that replace the tags that the terms use and the node lacks or misreports."""
    tags: dict[str | int, Tag | None] = {SAFE: facts.safe, FINALIZED: facts.final}
    found: dict[str, int] = {}
    for name, wanted in (("safe", site.terms.safe), ("final", site.terms.final)):
        tag = tags.get(wanted)
        if tag is not None and not is_believed(str(wanted), tag, site):
            found[name] = max(LEAST_DEPTH, math.ceil(UNTAGGED / site.terms.block_time))
    return found


def _reach(facts: NodeFacts) -> int | None:
    """Return how many blocks below the newest state can be read; None if all can, or it is not known."""
    return None if facts.is_archive else facts.history
