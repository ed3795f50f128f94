"""Checking the nodes of a chain."""

import asyncio
from collections.abc import Sequence

from backend.chain import durations, endpoints
from backend.chain.node_check.lines import Site
from backend.chain.node_check.probes import BUDGET, probe
from backend.chain.node_check.report import Report
from backend.chain.node_check.verdict import judge
from backend.chain.terms import public_terms_of, terms_of
from backend.settings import settings


async def check(site: Site, name: str, urls: Sequence[str], budget: float = BUDGET) -> Report:
    """Return the report on some URLs of a chain, which are asked at the same time."""
    facts = await asyncio.gather(*(probe(url, site.terms, budget) for url in urls))
    given = {str(eid): terms.model_dump(exclude_unset=True) for eid, terms in settings().chain_terms.items()}
    verdicts = [judge(found, site) for found in facts]
    return Report(site.eid, name, durations.success(site.eid, site.terms), verdicts, given)


def site_of(eid: int, chain_id: int, *, is_public: bool = False) -> Site:
    """Return the chain that its nodes are checked for; `is_public` where an embedded chain has its place now."""
    is_embedded = endpoints.is_embedded(eid) and not is_public
    return Site(eid, chain_id, terms_of(eid) if is_embedded else public_terms_of(eid), is_embedded)
