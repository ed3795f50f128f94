"""The amount that a new market's bridge carries: a market on a new chain needs a seller."""

from backend.client import SessionClient

PART = 10
"""The treasury's tokens are divided by this for the amount that is filled in."""


async def proposed(api: SessionClient, org_id: str, asset_id: str, eid: int, decimals: int) -> str:
    """Return a part of what the treasury holds on a chain, in whole tokens; an empty string without any.

    Raises ApiProblem.
    """
    wallets = (await api.list_wallets(org_id, limit=100)).wallets
    treasury = next((wallet.address for wallet in wallets if wallet.is_default), "")
    if not treasury or not eid:
        return ""
    found = await api.search_accounts(org_id, q=treasury, asset_id=asset_id, chain_eid=eid)
    held = next((int(one.balance or 0) for one in found.accounts if one.address == treasury), 0)
    whole = held // 10**decimals // PART
    return f"{whole:,}" if whole else ""
