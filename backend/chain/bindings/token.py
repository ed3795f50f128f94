"""An asset's token: the operations of its owner, its holders and its bridge, and its reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.chain.abi.calls import Call, call, creation
from backend.chain.abi.codec import address_word, organization_key, word_address
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings.layerzero import Packet, delivery_options, price
from backend.chain.errors import Reverted, RpcError, UnexpectedAnswer
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import BadRequest

NAME = "RWAToken"
_ERC7943 = "0x3edbb4c4"


@dataclass(frozen=True, slots=True)
class TokenDetails:
    """A token's properties; only the owner can change."""

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
    """Deploy a token; any account may. `outcome.created` is its address. No account can hold it before `set_rules`."""
    key = organization_key(organization_id)
    return creation(NAME, name, symbol, decimals, key, registry, endpoint, owner, treasury)


def set_rules(at: str, rules: TokenRules) -> Call:
    """Replace all rules; only the owner may."""
    return call(NAME, at, "setRules", rules.as_abi())


def set_peer(at: str, eid: int, peer: str) -> Call:
    """Set the peer token on another chain; only the owner may."""
    return call(NAME, at, "setPeer", eid, address_word(peer))


def set_venue(at: str, market: str, allowed: bool = True) -> Call:
    """Allow a market to take deposits and settle; only the owner may."""
    return call(NAME, at, "setVenue", market, allowed)


def mint(at: str, to: str, amount: int) -> Call:
    """Mint tokens; only the owner may."""
    return call(NAME, at, "mint", to, amount)


def burn(at: str, amount: int) -> Call:
    """Burn tokens of the signer."""
    return call(NAME, at, "burn", amount)


def transfer(at: str, to: str, amount: int) -> Call:
    """Transfer tokens of the signer."""
    return call(NAME, at, "transfer", to, amount)


def approve(at: str, spender: str, amount: int) -> Call:
    """Approve a market to take tokens of the signer."""
    return call(NAME, at, "approve", spender, amount)


def pause(at: str) -> Call:
    """Pause every movement; only the owner may."""
    return call(NAME, at, "pause")


def unpause(at: str) -> Call:
    """Unpause; only the owner may."""
    return call(NAME, at, "unpause")


def set_frozen(at: str, account: str, amount: int) -> Call:
    """Set the frozen amount of an account; only the owner may."""
    return call(NAME, at, "setFrozenTokens", account, amount)


def forced_transfer(at: str, from_: str, to: str, amount: int) -> Call:
    """Take tokens and give them to an eligible receiver; only the owner may."""
    return call(NAME, at, "forcedTransfer", from_, to, amount)


def recover(at: str, lost: str, replacement: str, orders: Mapping[str, Sequence[int]]) -> Call:
    """Move everything of a lost wallet to a new one of the same person; only the owner may. `orders` are its open
    orders by market: they are cancelled, and what they hold moves too."""
    named = [{"venue": market, "orderIds": list(ids)} for market, ids in orders.items()]
    return call(NAME, at, "recover", lost, replacement, named)


def send(at: str, *, destination_eid: int, to: str, amount: int, fee: int, refund: str | None = None) -> Call:
    """Burn the signer's tokens here, to be minted for `to` on another chain. `fee` is the result of `quote_send`."""
    return call(NAME, at, "send", _parcel(destination_eid, to, amount, None), _fee(fee), refund or to, value=fee)


def send_with_rules(
    at: str, *, destination_eid: int, rules: TokenRules, fee: int, refund: str, to: str | None = None, amount: int = 0
) -> Call:
    """As `send`, in a packet that also sets the rules there; only the owner may. The amount may be 0."""
    parcel = _parcel(destination_eid, to, amount, rules)
    return call(NAME, at, "sendWithRules", parcel, rules.as_abi(), _fee(fee), refund, value=fee)


def set_path_paused(at: str, other_eid: int, paused: bool) -> Call:
    """Pause or resume the path to and from another chain; only the owner may."""
    return call(NAME, at, "setPathPaused", other_eid, paused)


def set_path_limit(at: str, other_eid: int, limit: int, window: int) -> Call:
    """Limit the base units that pass to and from another chain in a window of seconds; only the owner may. 0 and 0
    removes the limit."""
    return call(NAME, at, "setPathLimit", other_eid, limit, window)


def drop_packet(at: str, packet: Packet) -> Call:
    """Drop a packet from its path permanently, so that it can never be delivered; only the owner of the receiving token
    may."""
    return call(NAME, at, "dropPacket", packet.origin, packet.message)


def mint_back(at: str, guid: str, to: str, amount: int) -> Call:
    """Mint back what a dropped packet burned, once; only the owner of the sending token may."""
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
    """Return the price of a packet, wei."""
    parcel = _parcel(destination_eid, to, amount, rules)
    if rules is None:
        answer = await _ask(eid, at, "quoteSend", parcel, False)
    else:
        answer = await _ask(eid, at, "quoteSendWithRules", parcel, rules.as_abi())
    return int(answer["nativeFee"])


async def packet_price(eid: int, at: str, *, destination_eid: int, rules: TokenRules) -> int:
    """Return the price of a packet with rules, wei: as `quote_send`, but also before the tokens are peers."""
    rpc = await connect(eid)
    # Receiver, amount and version are zero words here: a message's price depends on its length and options.
    message = bytes(40 + 32) + bytes.fromhex(set_rules(at, rules).data[10:])
    endpoint = await rpc.read(NAME, at, "endpoint")
    return await price(rpc, endpoint, at, destination_eid, message, delivery_options(rules))


async def rules(eid: int, at: str) -> TokenRules:
    """Return the current rules."""
    return TokenRules.of_abi(await _ask(eid, at, "rules"))


async def rules_version(eid: int, at: str) -> int:
    """Return the rules' version, which rises with every change; 0 means that no rules were ever set."""
    return int(await _ask(eid, at, "rulesVersion"))


async def balance_of(eid: int, at: str, account: str, block: int | None = None) -> int:
    """Return an account's balance, without what markets hold for it."""
    return int(await _ask(eid, at, "balanceOf", account, block=block))


async def holding_of(eid: int, at: str, account: str, block: int | None = None) -> int:
    """Return an account's holding, including what markets hold for it."""
    return int(await _ask(eid, at, "holdingOf", account, block=block))


async def frozen_of(eid: int, at: str, account: str) -> int:
    """Return an account's frozen amount; may exceed its balance."""
    return int(await _ask(eid, at, "getFrozenTokens", account))


async def frozen_of_many(eid: int, at: str, accounts: Sequence[str]) -> list[int]:
    """Return the frozen amounts of some accounts, in one round trip."""
    return [int(n) for n in await (await connect(eid)).read_many([(NAME, at, "getFrozenTokens", a) for a in accounts])]


async def total_supply(eid: int, at: str, block: int | None = None) -> int:
    """Return the supply on this chain."""
    return int(await _ask(eid, at, "totalSupply", block=block))


async def holder_count(eid: int, at: str) -> int:
    """Return the number of beneficial owners on this chain, without the treasury."""
    return int(await _ask(eid, at, "holderCount"))


async def owner(eid: int, at: str) -> str:
    """Return the owner, who has every authority over the token."""
    return str(await _ask(eid, at, "owner"))


async def treasury(eid: int, at: str) -> str:
    """Return the issuer's own account."""
    return str(await _ask(eid, at, "treasury"))


async def peer(eid: int, at: str, other_eid: int) -> str | None:
    """Return the token on another chain, None if no peer is set."""
    return word_address(await _ask(eid, at, "peers", other_eid))


@dataclass(frozen=True, slots=True)
class PathState:
    """The path to and from another chain: amounts in base units; a `window` of 0 seconds is no limit."""

    is_paused: bool
    limit: int
    window: int
    available: int


async def path(eid: int, at: str, other_eid: int) -> PathState:
    """Return the pause and the limit of a path. A token of an earlier version has neither."""
    try:
        return PathState(*await _ask(eid, at, "pathOf", other_eid))
    except Reverted:
        return PathState(is_paused=False, limit=0, window=0, available=0)


async def is_given_up(eid: int, at: str, guid: str, block: int | None = None) -> bool:
    """Return whether a packet was abandoned: dropped by the receiving token, or minted back by the sending one. A token
    of an earlier version cannot abandon packets."""
    try:
        return bool(await _ask(eid, at, "isGivenUp", guid, block=block))
    except Reverted:
        return False


async def is_venue(eid: int, at: str, market: str) -> bool:
    """Return whether a market may take deposits and settle."""
    return bool(await _ask(eid, at, "isVenue", market))


async def paused(eid: int, at: str) -> bool:
    """Return whether every movement is paused."""
    return bool(await _ask(eid, at, "paused"))


def transfer_codes(at: str, from_: str, to: str, amount: int) -> tuple[Any, ...]:
    """Return the read of every restriction code that a transfer violates, ascending; its answer is empty if the
    transfer would pass."""
    return NAME, at, "checkTransfer", from_, to, amount


async def check_transfers(eid: int, at: str, moves: Sequence[tuple[str, str, int]]) -> list[list[int]]:
    """Return the restriction codes of several transfers (from, to, amount), in one round trip."""
    answers = await (await connect(eid)).read_many([transfer_codes(at, *move) for move in moves])
    return [list(codes) for codes in answers]


async def details(eid: int, at: str) -> TokenDetails:
    """Return a token's properties. Raises BadRequest if the address has no code, or code of another contract."""
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
