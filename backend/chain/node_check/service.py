"""The check of a chain's nodes."""

import asyncio
from collections.abc import Sequence

from backend.chain.chain_list import CHAINS
from backend.chain.node_check.lines import Site
from backend.chain.node_check.probes import BUDGET, probe
from backend.chain.node_check.report import Report
from backend.chain.node_check.verdict import judge
from backend.chain.rpc import durations, node_urls
from backend.chain.rpc.node_urls import EMBEDDED
from backend.chain.rpc.terms import public_terms_of, terms_of
from backend.core.errors import CannotStart
from backend.core.settings import settings


async def check(site: Site, name: str, urls: Sequence[str], budget: float = BUDGET) -> Report:
    """Return the report on some URLs of a chain, checked concurrently."""
    facts = await asyncio.gather(*(probe(url, site.terms, budget) for url in urls))
    given = {str(eid): terms.model_dump(exclude_unset=True) for eid, terms in settings().chain_terms.items()}
    verdicts = [judge(found, site) for found in facts]
    return Report(site.eid, name, durations.success(site.eid, site.terms), verdicts, given)


def site_of(eid: int, chain_id: int, *, is_public: bool = False) -> Site:
    """Return the chain that its nodes are checked for; `is_public` if an embedded chain currently replaces it."""
    is_embedded = node_urls.is_embedded(eid) and not is_public
    return Site(eid, chain_id, terms_of(eid) if is_embedded else public_terms_of(eid), is_embedded)


async def check_configured(eid: int, url: str | None) -> Report:
    """Check a URL, or the URLs of a chain in the settings, without a database.

    Raises CannotStart if there is nothing to check.
    """
    entry = next((entry for entry in CHAINS if entry.eid == eid), None)
    if entry is None or entry.chain_id is None:
        raise CannotStart(f"The chain list has no EVM chain with the endpoint ID {eid}.")
    urls = node_urls.urls_of(eid)
    if url is not None and not url.startswith(("http://", "https://")):
        raise CannotStart("--url needs a URL that begins with http:// or https://.")
    if url is None and not urls:
        raise CannotStart(f"SIGNUM_RPC_URLS has no node for {entry.name}. Name one with --url.")
    is_public = url is not None and url not in urls
    site = site_of(eid, entry.chain_id, is_public=is_public)
    if site.is_embedded:
        site = site_of(eid, EMBEDDED[eid].chain_id)
    return await check(site, entry.name, urls if url is None else [url])
