"""Third-party contracts on a public chain: the messaging endpoint and the quote currency, from the settings.

Neither is used before the chain confirms what it is.
"""

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.chain_models import ChainRow
from backend.chain.errors import Reverted, UnexpectedAnswer
from backend.chain.rpc.json_rpc import Rpc
from backend.core import db
from backend.core.errors import Conflict
from backend.core.settings import settings

_MAINNETS = "0x1a44076050125825900e736c501f859c50fE728c"
_TESTNETS = "0x6EDCE65403992e310A62460808c4b910D972f10f"
ENDPOINTS = {
    30101: _MAINNETS,
    30102: _MAINNETS,
    30106: _MAINNETS,
    30109: _MAINNETS,
    30110: _MAINNETS,
    30111: _MAINNETS,
    30184: _MAINNETS,
    30367: "0x3A73033C0b1407574C76BdBAc67f126f6b4a9AA9",
    40102: _TESTNETS,
    40106: _TESTNETS,
    40161: _TESTNETS,
    40231: _TESTNETS,
    40232: _TESTNETS,
    40245: _TESTNETS,
    40267: _TESTNETS,
    40362: "0xf9e1815F151024bDE4B7C10BAC10e8Ba9F6b53E1",
}
"""LayerZero's EndpointV2, by its deployments' name; `SIGNUM_ENDPOINTS` overrides it."""
MOST_DECIMALS = 36
"""A token with more decimals is not usable as a currency: its amounts would exceed 256 bits."""


async def display_name(eid: int) -> str:
    """Return a chain's name in the chain list."""
    async with db.worker() as session:
        found = await session.scalar(sa.select(col(ChainRow.display_name)).where(col(ChainRow.xchain_eid) == eid))
    return str(found or f"the chain {eid}")


async def endpoint(rpc: Rpc, recorded: str | None) -> str:
    """Return the messaging endpoint of a chain. Raises Conflict if it is missing, belongs to another chain, or
    tokens were created for another one."""
    eid, name = rpc.eid, await display_name(rpc.eid)
    at = settings().endpoints.get(eid) or recorded or ENDPOINTS.get(eid)
    if at is None:
        raise Conflict(f"No messaging endpoint is known on {name}. Set it in SIGNUM_ENDPOINTS.")
    if recorded not in (None, at):
        raise Conflict(
            f"SIGNUM_ENDPOINTS names {at} on {name}, but tokens there were created for {recorded}, and a token never "
            "changes its endpoint. Revert the setting."
        )
    if not await rpc.has_code(at):
        raise Conflict(f"There is no contract at {at}, the messaging endpoint on {name}. Check SIGNUM_ENDPOINTS.")
    values = await _read(rpc, "LocalEndpoint", at, "eid")
    if values != eid:
        what = (
            f"is not an endpoint of the chain {eid}" if values is None else f"belongs to the chain {values}, not {eid}"
        )
        raise Conflict(f"The messaging endpoint {at} on {name} {what}. Check SIGNUM_ENDPOINTS.")
    return at


async def quote_token(rpc: Rpc, recorded: str | None) -> str | None:
    """Return the quote currency of a chain's markets, None without a setting. Raises Conflict if it is no currency."""
    at = settings().quote_tokens.get(rpc.eid) or recorded
    if at is None:
        return None
    name = await display_name(rpc.eid)
    if not await rpc.has_code(at):
        raise Conflict(f"There is no contract at {at}, the quote token on {name}. Check SIGNUM_QUOTE_TOKENS.")
    decimals = await _read(rpc, "TestUSD", at, "decimals")
    if decimals is None or decimals > MOST_DECIMALS:
        raise Conflict(f"The quote token {at} on {name} is not a currency (decimals()). Check SIGNUM_QUOTE_TOKENS.")
    return at


async def _read(rpc: Rpc, contract: str, at: str, function: str) -> int | None:
    """Return a number from a contract; None if it has no such function."""
    try:
        return int(await rpc.read(contract, at, function))
    except (Reverted, UnexpectedAnswer):
        return None
