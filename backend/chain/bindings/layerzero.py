"""The messaging endpoints as relayers use them: ours on embedded chains, LayerZero's on public ones."""

from dataclasses import dataclass
from typing import Any

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from backend.chain.abi.calls import Call, call
from backend.chain.abi.codec import address_word, word_address
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.rpc import deep_reads, node_urls
from backend.chain.rpc.json_rpc import Rpc

NAME = "LocalEndpoint"
_HEADER = 113
_RECEIVE = 300_000
_RULES = 150_000
_COUNTRY = 4_500
_ISSUER = 25_000
"""Gas of a delivery: a plain amount, and more for rules, a country and an issuer in them. Measured against LayerZero's
own executor, plus half for receivers with many attesters."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A message between two chains. `sender` and `receiver` are the tokens."""

    guid: str
    nonce: int
    source_eid: int
    sender: str
    destination_eid: int
    receiver: str
    message: bytes

    @property
    def origin(self) -> dict[str, Any]:
        """Return the message's origin as the endpoint's struct."""
        sender = bytes.fromhex(self.sender[2:]).rjust(32, b"\0")
        return {"srcEid": self.source_eid, "sender": sender, "nonce": self.nonce}

    @property
    def payload_hash(self) -> bytes:
        """Return the hash that the relayer verifies."""
        return keccak(bytes.fromhex(self.guid[2:]) + self.message)


def packet(encoded: str) -> Packet:
    """Return the packet in `PacketSent.encodedPayload`. Raises ValueError if it has another layout."""
    raw = bytes.fromhex(encoded.removeprefix("0x"))
    if len(raw) < _HEADER or raw[0] != 1:
        raise ValueError("not a packet of version 1")
    sender, receiver = word_address(raw[13:45]), word_address(raw[49:81])
    if sender is None or receiver is None:
        raise ValueError("a packet without sender or receiver")
    return Packet(
        "0x" + raw[81:113].hex(),
        int.from_bytes(raw[1:9]),
        int.from_bytes(raw[9:13]),
        sender,
        int.from_bytes(raw[45:49]),
        receiver,
        raw[113:],
    )


def delivery_gas(rules: TokenRules | None) -> int:
    """Return the gas bought for a delivery on a public chain, by the packet's content. Unused gas is still paid for; if
    it is too little, anyone may deliver with more."""
    if rules is None:
        return _RECEIVE
    return _RECEIVE + _RULES + _COUNTRY * len(rules.blocked_countries) + _ISSUER * len(rules.trusted_issuers)


def delivery_options(rules: TokenRules | None) -> bytes:
    """Return the options of a packet by its content. Our own endpoint ignores them."""
    return gas_options(delivery_gas(rules))


def gas_options(gas: int) -> bytes:
    """Return options of type 3: the executor runs `lzReceive` with this gas."""
    return b"\x00\x03\x01" + (17).to_bytes(2) + b"\x01" + gas.to_bytes(16)


def verify(at: str, message: Packet) -> Call:
    """Verify a message; only the relayer, which is the operator, may."""
    return call(NAME, at, "verify", message.origin, message.receiver, message.payload_hash)


def receive(at: str, message: Packet) -> Call:
    """Deliver a verified message; any account may."""
    return call(NAME, at, "lzReceive", message.origin, message.receiver, message.guid, message.message, b"")


async def price(rpc: Rpc, at: str, sender: str, destination_eid: int, message: bytes, options: bytes) -> int:
    """Return the endpoint's fee for a message, wei. The receiver is not queried, because it need not exist yet."""
    parameters = {
        "dstEid": destination_eid,
        "receiver": address_word(sender),
        "message": message,
        "options": options,
        "payInLzToken": False,
    }
    return int((await rpc.read(NAME, at, "quote", parameters, sender))["nativeFee"])


def set_message_fee(at: str, wei: int) -> Call:
    """Set the price of a message; only the operator may."""
    return call(NAME, at, "setMessageFee", wei)


async def is_off_path(rpc: Rpc, at: str, message: Packet) -> bool:
    """Return whether a message is off its path, because it was delivered or dropped, with the confirmations that a
    request on that chain needs."""
    if node_urls.is_embedded(rpc.eid):
        return await _is_taken(rpc, at, message)
    return await deep_reads.holds(rpc, f"off path {message.guid}", lambda block: _is_cleared(rpc, at, message, block))


async def _is_taken(rpc: Rpc, at: str, message: Packet) -> bool:
    path = (message.receiver, message.source_eid, message.origin["sender"], message.nonce)
    return bool(await rpc.read(NAME, at, "delivered", *path))


async def _is_cleared(rpc: Rpc, at: str, message: Packet, block: int | None) -> bool:
    """Return whether, on EndpointV2, the path's nonce has passed the message and its hash is no longer stored."""
    path = encode(["address", "uint32", "bytes32"], [message.receiver, message.source_eid, message.origin["sender"]])
    data = "0x" + (keccak(text="lazyInboundNonce(address,uint32,bytes32)")[:4] + path).hex()
    values = await rpc.request("eth_call", {"to": at, "data": data}, "latest" if block is None else hex(block))
    return int(values, 16) >= message.nonce and not await is_verified(rpc, at, message, block)


async def is_verified(rpc: Rpc, at: str, message: Packet, block: int | None = None) -> bool:
    """Return whether a message is verified and not yet delivered, at a block or now."""
    origin = message.origin
    values = await rpc.read(
        NAME,
        at,
        "inboundPayloadHash",
        message.receiver,
        message.source_eid,
        origin["sender"],
        message.nonce,
        block=block,
    )
    return int(values, 16) != 0
