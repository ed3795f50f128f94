"""Errors of LayerZero's contracts, by the signatures of their interface; none of them is ours."""

from functools import lru_cache
from typing import Any

from eth_abi.abi import decode
from eth_utils.crypto import keccak

SENTENCES = {
    "LZ_DefaultSendLibUnavailable()": "LayerZero has no path from this chain to that one.",
    "LZ_DefaultReceiveLibUnavailable()": "LayerZero has no path from that chain to this one.",
    "LZ_ULN_UnsupportedEid(uint32)": "LayerZero has no path from this chain to the one with endpoint ID {0}.",
    "LZ_ULN_InvalidWorkerOptions(uint256)": "LayerZero does not understand the options of the packet.",
    "LZ_MessageLib_InvalidMessageSize(uint256,uint256)": "The packet has {0} bytes; LayerZero carries at most {1}.",
    "LZ_InsufficientFee(uint256,uint256,uint256,uint256)": "The packet now costs {0} wei, but {1} were sent.",
    "LZ_InvalidNonce(uint64)": "Packet {0} of this path comes before this one and is not verified yet.",
    "LZ_PayloadHashNotFound(bytes32,bytes32)": "The message is not verified on this chain, or was already delivered.",
    "LZ_PathNotInitializable()": "The receiving token does not have the sender as a peer yet.",
    "LZ_PathNotVerifiable()": "The message was already delivered.",
    "LZ_Unauthorized()": "Only the token and its delegate may call this on LayerZero's endpoint.",
    "LZ_SameValue()": "LayerZero's endpoint already has this library for the path.",
    "LZ_OnlyRegisteredLib()": "The library is not registered at LayerZero's endpoint.",
    "LZ_OnlyRegisteredOrDefaultLib()": "The library is not registered at LayerZero's endpoint.",
    "LZ_OnlySendLib()": "The library set for sending cannot send.",
    "LZ_OnlyReceiveLib()": "The library set for receiving cannot receive.",
    "LZ_UnsupportedEid()": "The library does not serve this path.",
    "LZ_UnsupportedInterface()": "The address that is set as a library is not a message library.",
    "LZ_ULN_Unsorted()": "The DVNs are not in ascending order, or one appears twice.",
    "LZ_ULN_AtLeastOneDVN()": "The path has no DVN.",
    "LZ_ULN_InvalidOptionalDVNThreshold()": "The threshold of the optional DVNs does not match their number.",
    "LZ_ULN_InvalidConfirmations()": "The confirmations of the path are out of range.",
    "Executor_EidNotSupported(uint32)": "LayerZero's executor does not deliver to the chain with endpoint ID {0}.",
    "Executor_NoOptions()": "LayerZero's executor received no options.",
    "Executor_ZeroLzReceiveGasProvided()": "LayerZero's executor received no gas for the delivery.",
    "DVN_EidNotSupported(uint32)": "LayerZero's verifier does not serve the chain with endpoint ID {0}.",
}


@lru_cache
def _by_selector() -> dict[str, str]:
    return {"0x" + keccak(text=signature)[:4].hex(): signature for signature in SENTENCES}


def decoded(data: str) -> tuple[str, str, dict[str, Any]] | None:
    """Return name, sentence and arguments by position; None for other errors. Raises eth_abi's DecodingError."""
    signature = _by_selector().get(data[:10])
    if signature is None:
        return None
    name, _, rest = signature.removesuffix(")").partition("(")
    values = decode(rest.split(","), bytes.fromhex(data[10:])) if rest else ()
    shown = ["0x" + value.hex() if isinstance(value, bytes) else value for value in values]
    return name, SENTENCES[signature].format(*shown), {str(place): value for place, value in enumerate(shown)}
