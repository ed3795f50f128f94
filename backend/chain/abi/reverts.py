"""Revert data as a sentence."""

import re
from typing import Any

from eth_abi.abi import decode

from backend.chain.abi import layerzero_errors
from backend.chain.abi.codec import error_of
from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.errors import Reverted, RpcError

_RESTRICTED = frozenset({"TransferRestricted", "MarketRestricted"})
_SENTENCES = {
    "ERC20InsufficientBalance": "{sender} holds {balance} base units; {needed} base units are needed.",
    "ERC20InsufficientAllowance": "{spender} may spend {allowance} base units; {needed} base units are needed.",
    "OwnableUnauthorizedAccount": "{account} is not the owner of the contract.",
    "EnforcedPause": "The token is paused.",
    "ExpectedPause": "The token is not paused.",
    "NotAttester": "{account} is not a registered attester.",
    "LevelAboveMaximum": "KYC level {level} is above the attester's maximum, {maximum}.",
    "AlreadyExpired": "The attestation would already have expired ({expiresAt}).",
    "AlreadyRevoked": "The attestation was already revoked.",
    "UnknownAttestation": "The registry has no such attestation.",
    "NotAllowedToRevoke": "{account} may not revoke this attestation.",
    "LineageCycle": "The organization cannot be below itself.",
    "AttesterOfAnotherOrganization": "{attester} attests for another organization.",
    "NoPeer": "The token has no peer on the chain with endpoint ID {eid}.",
    "OnlyPeer": "The sender on the chain with endpoint ID {eid} is not a peer of the token.",
    "PathNotInitializable": "The receiving token does not have the sender as a peer yet.",
    "PayloadHashNotFound": "The message is not verified on this chain, or was already delivered.",
    "PathPaused": "The bridge path to and from the chain with endpoint ID {eid} is paused.",
    "PathLimited": "The limit of the bridge path to and from the chain with endpoint ID {eid} leaves room for "
    "{available} base units now.",
    "InvalidLimit": "The limit of a bridge path needs a window, and an amount that fits a packet.",
    "InvalidOptions": "The options of the packet are not of type 3.",
    "AlreadyReturned": "What this packet burned was already minted back.",
    "NotTokenOwner": "{account} does not own the token {token}.",
    "NotRWAToken": "{token} is not a token of this system.",
    "NotOpen": "Order {orderId} is not open.",
    "NotMaker": "{account} did not place order {orderId}.",
    "InvalidMarket": "The market's fees, quote currency or rules are invalid.",
    "InvalidOrder": "The order is worth less than one base unit of the quote currency.",
    "SupplyAboveShared": "The supply is too large to be bridged to other chains.",
}


_RESOLUTIONS = {
    "PathPaused": "Wait until the issuer resumes the path.",
    "PathLimited": "Wait until part of the window has passed, or send less.",
}


def _words(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return words[:1].upper() + words[1:]


def _sentence(name: str, arguments: dict[str, Any]) -> str:
    if name in _SENTENCES:
        return _SENTENCES[name].format(**arguments)
    if not arguments:
        return f"{_words(name)}."
    return f"{_words(name)} ({', '.join(f'{key} {value}' for key, value in arguments.items())})."


def reverted(data: str, message: str = "") -> Reverted:
    """Return revert data as an error: ours by the ABI, `Error(string)`, `Panic(uint256)`, else the node's message."""
    known = error_of(data) if len(data) >= 10 else None
    if known is None:
        return _foreign(data, message)
    name, arguments = known
    restriction = RESTRICTIONS.get(arguments.get("code", -1)) if name in _RESTRICTED else None
    if restriction is None:
        return Reverted(_sentence(name, arguments), name=name, arguments=arguments, resolution=_RESOLUTIONS.get(name))
    return Reverted(
        f"{restriction.message}.",
        name=name,
        arguments=arguments,
        code=restriction.code,
        resolution=restriction.resolution,
    )


def _foreign(data: str, message: str) -> Reverted:
    layer_zero = layerzero_errors.decoded(data)
    if layer_zero is not None:
        name, sentence, arguments = layer_zero
        return Reverted(sentence, name=name, arguments=arguments)
    if data.startswith("0x08c379a0"):
        text = decode(["string"], bytes.fromhex(data[10:]))[0]
        return Reverted(str(text), name="Error", arguments={"message": text})
    if data.startswith("0x4e487b71"):
        code = decode(["uint256"], bytes.fromhex(data[10:]))[0]
        return Reverted(
            f"The contract stopped at an internal check (panic 0x{code:02x}).", name="Panic", arguments={"panic": code}
        )
    return Reverted(
        message or ("The contract refused without giving a reason."), name="Unknown", arguments={"data": data[:200]}
    )


def is_revert(error: RpcError) -> bool:
    """Return whether a node's error is a contract's refusal and not an error of the node."""
    return error.code == 3 or bool(error.data) or error.says("revert")
