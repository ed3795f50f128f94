"""What stands on a public chain before we come: the messaging endpoint and the quote currency, by the settings.

Neither is believed to be what the settings call it before the chain has said so.
"""

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain.errors import Reverted, UnexpectedAnswer
from backend.chain.rpc import Rpc
from backend.chains.models import ChainRow
from backend.errors import Conflict
from backend.settings import settings

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
"""LayerZero's EndpointV2, as its deployments name it; `SIGNUM_ENDPOINTS` names another."""
MOST_DECIMALS = 36
"""A currency with more is none: its amounts would leave 256 bits."""


async def display_name(eid: int) -> str:
    """A chain by its name in the registry."""
    async with db.worker() as session:
        found = await session.scalar(sa.select(col(ChainRow.display_name)).where(col(ChainRow.xchain_eid) == eid))
    return str(found or f"the chain {eid}")


async def endpoint(rpc: Rpc, recorded: str | None) -> str:
    """The messaging endpoint of a chain. Raises Conflict where there is none, it is of another chain, or tokens were
    made for another one."""
    eid, name = rpc.eid, await display_name(rpc.eid)
    at = settings().endpoints.get(eid) or recorded or ENDPOINTS.get(eid)
    if at is None:
        raise Conflict(f"No messaging endpoint is known on {name}: name it in SIGNUM_ENDPOINTS.")
    if recorded not in (None, at):
        raise Conflict(
            f"SIGNUM_ENDPOINTS names {at} on {name}, but tokens there are made for {recorded}, and a token never "
            "changes its endpoint: take the setting back."
        )
    if not await rpc.has_code(at):
        raise Conflict(f"There is no contract at {at}, the messaging endpoint on {name}: see SIGNUM_ENDPOINTS.")
    told = await _told(rpc, "LocalEndpoint", at, "eid")
    if told != eid:
        what = "is none" if told is None else f"is that of the chain {told}"
        raise Conflict(f"The messaging endpoint {at} on {name} {what}, not of the chain {eid}: see SIGNUM_ENDPOINTS.")
    return at


async def quote_token(rpc: Rpc, recorded: str | None) -> str | None:
    """What markets on a chain are quoted in; None where nothing is named. Raises Conflict where it is no currency."""
    at = settings().quote_tokens.get(rpc.eid) or recorded
    if at is None:
        return None
    name = await display_name(rpc.eid)
    if not await rpc.has_code(at):
        raise Conflict(f"There is no contract at {at}, the quote token on {name}: see SIGNUM_QUOTE_TOKENS.")
    decimals = await _told(rpc, "TestUSD", at, "decimals")
    if decimals is None or decimals > MOST_DECIMALS:
        raise Conflict(f"The quote token {at} on {name} is no currency (decimals()): see SIGNUM_QUOTE_TOKENS.")
    return at


async def _told(rpc: Rpc, contract: str, at: str, function: str) -> int | None:
    """A number that a contract tells; None where it has no such function."""
    try:
        return int(await rpc.read(contract, at, function))
    except (Reverted, UnexpectedAnswer):
        return None
