"""The allowed shapes of a node's answers. Anything else is garbage and a fault of the node; it is never used as a fact.

By method: numbers are hexadecimal strings, hashes have 32 bytes, a receipt belongs to the requested transaction. Values
that a node could fake in a valid shape (a nonce, an old block) are checked where they are used.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Check = Callable[[Any, Sequence[Any]], bool]
_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,64}")
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class Garbage(ValueError):
    """A malformed answer."""


def _is(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _number(value: Any, _: Sequence[Any]) -> bool:
    return _is(_NUMBER, value)


def _bytes(value: Any, _: Sequence[Any]) -> bool:
    return _is(_BYTES, value)


def _hash(value: Any, _: Sequence[Any]) -> bool:
    return _is(_HASH, value)


def _block(value: Any, parameters: Sequence[Any]) -> bool:
    if value is None:
        return bool(parameters[0] != "latest")
    return (
        isinstance(value, Mapping)
        and _is(_NUMBER, value.get("number"))
        and _is(_HASH, value.get("hash"))
        and _is(_NUMBER, value.get("timestamp"))
        and _is(_NUMBER, value.get("baseFeePerGas", "0x0"))
    )


def _log(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and _is(_ADDRESS, value.get("address"))
        and isinstance(value.get("topics"), list)
        and all(_is(_HASH, topic) for topic in value["topics"])
        and _is(_BYTES, value.get("data"))
        and _is(_NUMBER, value.get("blockNumber"))
        and _is(_HASH, value.get("blockHash"))
        and _is(_HASH, value.get("transactionHash"))
        and _is(_NUMBER, value.get("logIndex"))
    )


def _logs(value: Any, _: Sequence[Any]) -> bool:
    return isinstance(value, list) and all(_log(entry) for entry in value)


def _receipt(value: Any, parameters: Sequence[Any]) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, Mapping)
        and str(value.get("transactionHash")).lower() == str(parameters[0]).lower()
        and _is(_NUMBER, value.get("blockNumber"))
        and _is(_HASH, value.get("blockHash"))
        and _is(_NUMBER, value.get("gasUsed"))
        and _is(_NUMBER, value.get("status"))
        and (value.get("contractAddress") is None or _is(_ADDRESS, value["contractAddress"]))
        and _logs(value.get("logs"), ())
    )


_SHAPES: Final[Mapping[str, Check]] = {
    "eth_blockNumber": _number,
    "eth_chainId": _number,
    "eth_gasPrice": _number,
    "eth_maxPriorityFeePerGas": _number,
    "eth_getBalance": _number,
    "eth_getTransactionCount": _number,
    "eth_estimateGas": _number,
    "eth_call": _bytes,
    "eth_getCode": _bytes,
    "eth_sendRawTransaction": _hash,
    "eth_getBlockByNumber": _block,
    "eth_getTransactionReceipt": _receipt,
    "eth_getLogs": _logs,
}


def ordered(requests: Sequence[tuple[str, Sequence[Any]]], reply: Any) -> list[dict[str, Any]]:
    """Return the answers of a batch in the order of its requests, each an `error` or a `result` of the method's shape.

    Raises Garbage.
    """
    if not isinstance(reply, list) or not all(isinstance(answer, dict) for answer in reply):
        raise Garbage("the response is not a list of answers")
    by_id = {answer["id"]: answer for answer in reply if isinstance(answer.get("id"), int)}
    if len(reply) != len(requests) or set(by_id) != set(range(len(requests))):
        raise Garbage("the answers do not match the requests")
    for number, (method, parameters) in enumerate(requests):
        _look(by_id[number], method, parameters)
    return [by_id[number] for number in range(len(requests))]


def _look(answer: Mapping[str, Any], method: str, parameters: Sequence[Any]) -> None:
    if answer.get("error") is not None:
        if not isinstance(answer["error"], Mapping):
            raise Garbage("a malformed error")
        return
    check = _SHAPES.get(method)
    if "result" not in answer or (check is not None and not check(answer["result"], parameters)):
        raise Garbage(f"no answer to {method}")
