"""The market factory."""

from dataclasses import dataclass

from backend.chain.abi.calls import Call, call
from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import MarketRules
from backend.chain.errors import MissingEvent, Reverted, RpcError, UnexpectedAnswer
from backend.chain.rpc.json_rpc import connect
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest

NAME = "MarketFactory"
INTERFACE = "signum.MarketFactory.v1"


@dataclass(frozen=True, slots=True)
class FactoryInfo:
    """A factory's terms. `default_quote` is `None` if it has none."""

    default_quote: str | None
    protocol_wallet: str
    protocol_fee_bps: int


async def check(eid: int, address: str) -> FactoryInfo:
    """Return the factory's terms. Raises BadRequest if the address has no code, or code of another contract."""
    rpc = await connect(eid)
    if not await rpc.has_code(address):
        raise BadRequest(f"There is no contract at {address} on this chain.", pointer="/market_factory_address")
    functions = ("interfaceName", "defaultQuote", "protocolWallet", "protocolFeeBps")
    try:
        name, quote, wallet, bps = await rpc.read_many([(NAME, address, function) for function in functions])
    except (Reverted, RpcError, UnexpectedAnswer):
        name, quote, wallet, bps = "", ZERO_ADDRESS, ZERO_ADDRESS, 0
    if name != INTERFACE:
        raise BadRequest(f"The contract at {address} is not a market factory.", pointer="/market_factory_address")
    return FactoryInfo(None if quote == ZERO_ADDRESS else quote, wallet, bps)


def set_protocol(at: str, wallet: str, share_bps: int) -> Call:
    """Set the receiver of the protocol's share of every market's fees, and the share; only the operator may."""
    return call(NAME, at, "setProtocol", wallet, share_bps)


def set_default_quote(at: str, quote: str) -> Call:
    """Set the quote currency of future markets; only the operator may."""
    return call(NAME, at, "setDefaultQuote", quote)


def create_market(
    at: str,
    *,
    token: str,
    fee_collector: str,
    taker_bps: int,
    maker_bps: int,
    rules: MarketRules,
    quote: str | None = None,
) -> Call:
    """Create a market; only the token's owner may, who then allows it to settle with `token.set_venue`."""
    return call(
        NAME, at, "createMarket", token, quote or ZERO_ADDRESS, fee_collector, taker_bps, maker_bps, rules.as_abi()
    )


def created(outcome: Outcome, at: str) -> str:
    """Return the address of the market that the factory at `at` created. Raises MissingEvent if it created none."""
    for event in outcome.events("MarketCreated"):
        if event["_address"] == at:
            return str(event["market"])
    raise MissingEvent(f"{outcome.tx_hash} did not create a market of the factory {at}")


async def is_market(eid: int, at: str, market: str) -> bool:
    """Return whether the factory created a market."""
    return bool(await (await connect(eid)).read(NAME, at, "isMarket", market))
