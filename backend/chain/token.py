"""A token of an asset: what its owner, its holders and its bridge can do, and what can be asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.chain.calls import Call, call, creation
from backend.chain.codec import address_word, organization_key, word_address
from backend.chain.endpoint import Packet, delivery_options, price
from backend.chain.errors import Reverted, RpcError, UnexpectedAnswer
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.errors import BadRequest

NAME = "RWAToken"
_ERC7943 = "0x3edbb4c4"


@dataclass(frozen=True, slots=True)
class TokenDetails:
    """What a token is; it never changes, but for the owner."""

    name: str
    symbol: str
    decimals: int
    organization_key: str
    owner: str


def deploy(
    *,
    name: str,
    symbol: str,
    decimals: int,
    organization_id: UUID,
    registry: str,
    endpoint: str,
    owner: str,
    treasury: str,
) -> Call:
    """Create a token; by anybody. `outcome.created` is its address. Nobody can hold it before `set_rules`."""
    key = organization_key(organization_id)
    return creation(NAME, name, symbol, decimals, key, registry, endpoint, owner, treasury)


def set_rules(at: str, rules: TokenRules) -> Call:
    """Replace all rules; by the owner."""
    return call(NAME, at, "setRules", rules.as_abi())


def set_peer(at: str, eid: int, peer: str) -> Call:
    """Name the token on another chain; by the owner."""
    return call(NAME, at, "setPeer", eid, address_word(peer))


def set_venue(at: str, market: str, allowed: bool = True) -> Call:
    """Let a market take deposits and settle; by the owner."""
    return call(NAME, at, "setVenue", market, allowed)


def set_treasury(at: str, address: str) -> Call:
    """Name the treasury; by the owner."""
    return call(NAME, at, "setTreasury", address)


def mint(at: str, to: str, amount: int) -> Call:
    """Issue tokens; by the owner."""
    return call(NAME, at, "mint", to, amount)


def burn(at: str, amount: int) -> Call:
    """Destroy tokens of the signer."""
    return call(NAME, at, "burn", amount)


def transfer(at: str, to: str, amount: int) -> Call:
    """Send tokens of the signer."""
    return call(NAME, at, "transfer", to, amount)


def approve(at: str, spender: str, amount: int) -> Call:
    """Let a market take tokens of the signer."""
    return call(NAME, at, "approve", spender, amount)


def pause(at: str) -> Call:
    """Stop every movement; by the owner."""
    return call(NAME, at, "pause")


def unpause(at: str) -> Call:
    """End the pause; by the owner."""
    return call(NAME, at, "unpause")


def set_frozen(at: str, account: str, amount: int) -> Call:
    """Set how much of an account is frozen; by the owner."""
    return call(NAME, at, "setFrozenTokens", account, amount)


def forced_transfer(at: str, from_: str, to: str, amount: int) -> Call:
    """Take tokens and give them to an eligible receiver; by the owner."""
    return call(NAME, at, "forcedTransfer", from_, to, amount)


def recover(at: str, lost: str, replacement: str, orders: Mapping[str, Sequence[int]]) -> Call:
    """Move everything of a lost wallet to a new one of the same person; by the owner. `orders` are its open orders by
    market: they are cancelled, and what is in them moves along."""
    named = [{"venue": market, "orderIds": list(ids)} for market, ids in orders.items()]
    return call(NAME, at, "recover", lost, replacement, named)


def send(at: str, *, destination_eid: int, to: str, amount: int, fee: int, refund: str | None = None) -> Call:
    """Burn the signer's tokens here, to be minted for `to` on another chain. `fee` is what `quote_send` said."""
    return call(NAME, at, "send", _parcel(destination_eid, to, amount, None), _fee(fee), refund or to, value=fee)


def send_with_rules(
    at: str, *, destination_eid: int, rules: TokenRules, fee: int, refund: str, to: str | None = None, amount: int = 0
) -> Call:
    """As `send`, in a packet that also sets the rules there; by the owner. The rules may go alone."""
    parcel = _parcel(destination_eid, to, amount, rules)
    return call(NAME, at, "sendWithRules", parcel, rules.as_abi(), _fee(fee), refund, value=fee)


def set_path_paused(at: str, other_eid: int, paused: bool) -> Call:
    """Stop what goes to another chain and what comes from there, or let it go on; by the owner."""
    return call(NAME, at, "setPathPaused", other_eid, paused)


def set_path_limit(at: str, other_eid: int, limit: int, window: int) -> Call:
    """Let so many base units pass to and from another chain in a window of seconds; by the owner. 0 and 0 is none."""
    return call(NAME, at, "setPathLimit", other_eid, limit, window)


def drop_packet(at: str, packet: Packet) -> Call:
    """Take a packet off its path for good, so that it can never be delivered; by the owner of the receiving token."""
    return call(NAME, at, "dropPacket", packet.origin, packet.message)


def mint_back(at: str, guid: str, to: str, amount: int) -> Call:
    """Mint what a dropped packet had burnt, once; by the owner of the sending token."""
    return call(NAME, at, "mintBack", guid, to, amount)


def _parcel(destination_eid: int, to: str | None, amount: int, rules: TokenRules | None) -> dict[str, Any]:
    receiver = bytes(32) if to is None else address_word(to)
    return {
        "dstEid": destination_eid,
        "to": receiver,
        "amountLD": amount,
        "minAmountLD": 0,
        "extraOptions": delivery_options(rules),
        "composeMsg": b"",
        "oftCmd": b"",
    }


def _fee(fee: int) -> dict[str, int]:
    return {"nativeFee": fee, "lzTokenFee": 0}


async def _ask(eid: int, at: str, function: str, *values: Any, block: int | None = None) -> Any:
    return await (await connect(eid)).read(NAME, at, function, *values, block=block)


async def quote_send(
    eid: int, at: str, *, destination_eid: int, to: str | None = None, amount: int = 0, rules: TokenRules | None = None
) -> int:
    """The price of a packet, wei."""
    parcel = _parcel(destination_eid, to, amount, rules)
    if rules is None:
        told = await _ask(eid, at, "quoteSend", parcel, False)
    else:
        told = await _ask(eid, at, "quoteSendWithRules", parcel, rules.as_abi())
    return int(told["nativeFee"])


async def packet_price(eid: int, at: str, *, destination_eid: int, rules: TokenRules) -> int:
    """The price of a packet that carries rules, wei: as `quote_send`, but also before the tokens name each other."""
    rpc = await connect(eid)
    # Receiver, amount and version are words of zeros here: a message is priced by its length and options.
    message = bytes(40 + 32) + bytes.fromhex(set_rules(at, rules).data[10:])
    endpoint = await rpc.read(NAME, at, "endpoint")
    return await price(rpc, endpoint, at, destination_eid, message, delivery_options(rules))


async def rules(eid: int, at: str) -> TokenRules:
    """The rules in force."""
    return TokenRules.of_abi(await _ask(eid, at, "rules"))


async def rules_version(eid: int, at: str) -> int:
    """Rises with every change; 0 means that no rules were ever set."""
    return int(await _ask(eid, at, "rulesVersion"))


async def balance_of(eid: int, at: str, account: str, block: int | None = None) -> int:
    """What an account holds, without what markets hold for it."""
    return int(await _ask(eid, at, "balanceOf", account, block=block))


async def holding_of(eid: int, at: str, account: str, block: int | None = None) -> int:
    """What an account owns, with what markets hold for it."""
    return int(await _ask(eid, at, "holdingOf", account, block=block))


async def frozen_of(eid: int, at: str, account: str) -> int:
    """How much of an account is frozen; may be more than it holds."""
    return int(await _ask(eid, at, "getFrozenTokens", account))


async def frozen_of_many(eid: int, at: str, accounts: Sequence[str]) -> list[int]:
    """How much of each of some accounts is frozen, in one round trip."""
    return [int(n) for n in await (await connect(eid)).read_many([(NAME, at, "getFrozenTokens", a) for a in accounts])]


async def total_supply(eid: int, at: str, block: int | None = None) -> int:
    """The supply on this chain."""
    return int(await _ask(eid, at, "totalSupply", block=block))


async def holder_count(eid: int, at: str) -> int:
    """Beneficial owners on this chain, the treasury not among them."""
    return int(await _ask(eid, at, "holderCount"))


async def allowance(eid: int, at: str, owner_: str, spender: str) -> int:
    """How much a spender may take."""
    return int(await _ask(eid, at, "allowance", owner_, spender))


async def owner(eid: int, at: str) -> str:
    """Who has every authority over the token."""
    return str(await _ask(eid, at, "owner"))


async def treasury(eid: int, at: str) -> str:
    """The issuer's own account."""
    return str(await _ask(eid, at, "treasury"))


async def peer(eid: int, at: str, other_eid: int) -> str | None:
    """The token on another chain, None where none is named."""
    return word_address(await _ask(eid, at, "peers", other_eid))


@dataclass(frozen=True, slots=True)
class PathState:
    """The path to and from another chain: amounts in base units; a `window` of 0 seconds is no limit."""

    is_paused: bool
    limit: int
    window: int
    available: int


async def path(eid: int, at: str, other_eid: int) -> PathState:
    """The pause and the limit of a path. A token of an earlier version has neither."""
    try:
        return PathState(*await _ask(eid, at, "pathOf", other_eid))
    except Reverted:
        return PathState(is_paused=False, limit=0, window=0, available=0)


async def is_given_up(eid: int, at: str, guid: str, block: int | None = None) -> bool:
    """Whether a packet was given up: dropped by the token that would have received it, or what it had burnt minted back
    by the one that sent it. A token of an earlier version gives up none."""
    try:
        return bool(await _ask(eid, at, "isGivenUp", guid, block=block))
    except Reverted:
        return False


async def is_venue(eid: int, at: str, market: str) -> bool:
    """Whether a market may take deposits and settle."""
    return bool(await _ask(eid, at, "isVenue", market))


async def paused(eid: int, at: str) -> bool:
    """Whether every movement is stopped."""
    return bool(await _ask(eid, at, "paused"))


async def check_transfer(eid: int, at: str, from_: str, to: str, amount: int) -> list[int]:
    """Every restriction code that a transfer would meet, ascending; empty where it would pass."""
    return list(await _ask(eid, at, "checkTransfer", from_, to, amount))


async def details(eid: int, at: str) -> TokenDetails:
    """What a token is. Raises BadRequest where the address has no code, or code of something else."""
    rpc = await connect(eid)
    if not await rpc.has_code(at):
        raise BadRequest(f"There is no contract at {at} on this chain.")
    names = ("name", "symbol", "decimals", "organizationId", "owner")
    try:
        ours, *values = await rpc.read_many(
            [(NAME, at, "supportsInterface", _ERC7943), *((NAME, at, function) for function in names)]
        )
    except (Reverted, RpcError, UnexpectedAnswer):
        ours, values = False, []
    if not ours:
        raise BadRequest(f"The contract at {at} is not a token of this system.")
    return TokenDetails(*values)
