"""The market factory."""

from dataclasses import dataclass

from backend.chain.calls import Call, call
from backend.chain.errors import MissingEvent, Reverted, RpcError, UnexpectedAnswer
from backend.chain.outcome import Outcome
from backend.chain.rpc import connect
from backend.chain.rule_sets import MarketRules
from backend.errors import BadRequest

NAME = "MarketFactory"
INTERFACE = "signum.MarketFactory.v1"
ZERO = "0x" + "0" * 40


@dataclass(frozen=True, slots=True)
class FactoryInfo:
    """A factory's terms. `default_quote` is None where it has none."""

    default_quote: str | None
    protocol_wallet: str
    protocol_fee_bps: int


async def check(eid: int, address: str) -> FactoryInfo:
    """The factory's terms. Raises BadRequest where the address has no code, or code of something else."""
    rpc = await connect(eid)
    if not await rpc.has_code(address):
        raise BadRequest(f"There is no contract at {address} on this chain.", pointer="/market_factory_address")
    functions = ("interfaceName", "defaultQuote", "protocolWallet", "protocolFeeBps")
    try:
        name, quote, wallet, bps = await rpc.read_many([(NAME, address, function) for function in functions])
    except (Reverted, RpcError, UnexpectedAnswer):
        name, quote, wallet, bps = "", ZERO, ZERO, 0
    if name != INTERFACE:
        raise BadRequest(f"The contract at {address} is not a market factory.", pointer="/market_factory_address")
    return FactoryInfo(None if quote == ZERO else quote, wallet, bps)


def set_protocol(at: str, wallet: str, share_bps: int) -> Call:
    """Say who gets the protocol's share of every market's fees, and how much of each fee it is; by the operator."""
    return call(NAME, at, "setProtocol", wallet, share_bps)


def set_default_quote(at: str, quote: str) -> Call:
    """Name the quote currency of markets to come; by the operator."""
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
    """Create a market; by the token's owner, who then lets it settle with `token.set_venue`."""
    return call(NAME, at, "createMarket", token, quote or ZERO, fee_collector, taker_bps, maker_bps, rules.as_abi())


def created(outcome: Outcome, at: str) -> str:
    """The address of the market that the factory at `at` created. Raises MissingEvent where it created none."""
    for event in outcome.events("MarketCreated"):
        if event["_address"] == at:
            return str(event["market"])
    raise MissingEvent(f"{outcome.tx_hash} created no market of the factory {at}")


async def is_market(eid: int, at: str, market: str) -> bool:
    """Whether the factory made a market."""
    return bool(await (await connect(eid)).read(NAME, at, "isMarket", market))
