"""The node check as the operator's command does it: without a database."""

from backend.chain import endpoints
from backend.chain.endpoints import EMBEDDED
from backend.chain.node_check.report import Report
from backend.chain.node_check.service import check, site_of
from backend.chains.registry import CHAINS
from backend.errors import CannotStart


async def checked(eid: int, url: str | None) -> Report:
    """Check a URL, or the URLs of a chain in the settings. Raises CannotStart where there is nothing to check."""
    entry = next((entry for entry in CHAINS if entry.eid == eid), None)
    if entry is None or entry.chain_id is None:
        raise CannotStart(f"The registry has no EVM chain with the endpoint id {eid}.")
    urls = endpoints.urls_of(eid)
    if url is not None and not url.startswith(("http://", "https://")):
        raise CannotStart("--url needs a URL that begins with http:// or https://.")
    if url is None and not urls:
        raise CannotStart(f"SIGNUM_RPC_URLS has no node for {entry.name}. Name one with --url.")
    is_public = url is not None and url not in urls
    site = site_of(eid, entry.chain_id, is_public=is_public)
    if site.is_embedded:
        site = site_of(eid, EMBEDDED[eid].chain_id)
    return await check(site, entry.name, urls if url is None else [url])
