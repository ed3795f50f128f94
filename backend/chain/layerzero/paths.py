"""Paths between tokens as stored by the messaging endpoints: libraries, verifiers (DVNs), executor, enforced options.

A token's delegate, who is its owner, configures it for each other chain. Everything else is LayerZero's default, which
LayerZero may change.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from eth_abi.abi import decode, encode
from eth_utils.address import to_checksum_address

from backend.chain.abi.calls import Call, call
from backend.chain.bindings import layerzero
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.core.setting_fields.paths import PathEnd, PathSettings
from backend.core.settings import settings

ENDPOINT, TOKEN = "LocalEndpoint", "RWAToken"
EXECUTOR, ULN = 1, 2
"""Kinds of settings of LayerZero's libraries."""
NONE: Final = 255
"""The count that means no DVN; 0 would mean the library's default."""
SEND: Final = 1
"""The kind of packet that options are enforced for: an amount without rules."""
_ULN = "(uint64,uint8,uint8,uint8,address[],address[])"
_EXECUTOR = "(uint32,address)"


@dataclass(frozen=True, slots=True)
class Verifiers:
    """Who must verify a packet: every required DVN and `threshold` of the optional ones, with this many
    confirmations."""

    confirmations: int
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    threshold: int = 0

    @classmethod
    def of(cls, path: PathSettings, end: PathEnd) -> "Verifiers":
        """Return those in the settings, in the order that the libraries require."""
        required, optional = (tuple(sorted(dvns, key=_number)) for dvns in (end.required_dvns, end.optional_dvns))
        return cls(path.confirmations, required, optional, path.optional_threshold)

    @classmethod
    def decoded(cls, data: str) -> "Verifiers":
        """Return those in an answer of the endpoint."""
        ((confirmations, _, _, threshold, required, optional),) = decode([_ULN], _bytes(data))
        return cls(confirmations, _addresses(required), _addresses(optional), threshold)

    def encoded(self) -> bytes:
        """Return them in the libraries' encoding."""
        counts = (len(self.required) or NONE, len(self.optional) or NONE)
        return encode([_ULN], [(self.confirmations, *counts, self.threshold, self.required, self.optional)])


@dataclass(frozen=True, slots=True)
class Sending:
    """How a token sends to another chain. `is_pinned` if its library was set and is not the default."""

    library: str
    is_pinned: bool
    verifiers: Verifiers
    executor: str
    max_message_size: int
    options: str
    """Enforced options of a packet that carries an amount, hexadecimal."""


@dataclass(frozen=True, slots=True)
class Receiving:
    """How a token receives from another chain."""

    library: str
    is_pinned: bool
    verifiers: Verifiers


def of(source: int, destination: int) -> PathSettings | None:
    """Return the settings of a path; None without settings."""
    return settings().bridge_paths.get(source, {}).get(destination)


def required_dvns(source: int, destination: int) -> int:
    """Return how many independent DVNs the settings require on a path; 0 without settings."""
    path = of(source, destination)
    return 0 if path is None else len(path.send.required_dvns)


def enforced_options(path: PathSettings | None) -> str:
    """Return the options of every packet that carries an amount, hexadecimal."""
    gas = PathSettings.model_fields["enforced_gas"].default if path is None else path.enforced_gas
    return "0x" + layerzero.gas_options(gas).hex()


async def sending(rpc: Rpc, at: str, token: str, remote: int, library: str | None = None) -> Sending:
    """Read how a token sends to `remote`, from the endpoint at `at`; with the settings of `library`, or of its own."""
    own, is_default, options = await rpc.read_many(
        [
            (ENDPOINT, at, "getSendLibrary", token, remote),
            (ENDPOINT, at, "isDefaultSendLibrary", token, remote),
            (TOKEN, token, "enforcedOptions", remote, SEND),
        ]
    )
    settled = library or own
    uln, executor = await rpc.read_many(
        [(ENDPOINT, at, "getConfig", token, settled, remote, kind) for kind in (ULN, EXECUTOR)]
    )
    ((size, who),) = decode([_EXECUTOR], _bytes(executor))
    return Sending(own, not is_default, Verifiers.decoded(uln), str(to_checksum_address(who)), size, options)


async def receiving(rpc: Rpc, at: str, token: str, remote: int, library: str | None = None) -> Receiving:
    """Read how a token receives from `remote`, from the endpoint at `at`."""
    own, is_default = await rpc.read(ENDPOINT, at, "getReceiveLibrary", token, remote)
    uln = await rpc.read(ENDPOINT, at, "getConfig", token, library or own, remote, ULN)
    return Receiving(own, not is_default, Verifiers.decoded(uln))


async def both(eid: int, at: str, token: str, remote: int) -> tuple[Sending, Receiving]:
    """Read a token's settings for another chain: sending and receiving."""
    rpc = await connect(eid)
    return await asyncio.gather(sending(rpc, at, token, remote), receiving(rpc, at, token, remote))


async def changes(eid: int, at: str, token: str, remote: int) -> dict[str, Call]:
    """Return the calls, by name, that configure a token's end of the path as in the settings; only the owner may send
    them."""
    rpc = await connect(eid)
    there, back = of(eid, remote), of(remote, eid)
    out = await sending(rpc, at, token, remote, there.send.library if there else None)
    calls: dict[str, Call] = {}
    if there is not None:
        calls |= _sending_changes(at, token, remote, there, out)
    if back is not None:
        into = await receiving(rpc, at, token, remote, back.receive.library)
        calls |= _receiving_changes(at, token, remote, back, into)
    if out.options != (options := enforced_options(there)):
        entry = {"eid": remote, "msgType": SEND, "options": options}
        calls["enforced-options"] = call(TOKEN, token, "setEnforcedOptions", [entry])
    return calls


def _sending_changes(at: str, token: str, remote: int, path: PathSettings, found: Sending) -> dict[str, Call]:
    calls, library = {}, path.send.library or found.library
    if not found.is_pinned or found.library != library:
        calls["send-library"] = call(ENDPOINT, at, "setSendLibrary", token, remote, library)
    entries = []
    verifiers = Verifiers.of(path, path.send)
    if found.verifiers != verifiers:
        entries.append(_entry(remote, ULN, verifiers.encoded()))
    executor, size = path.send.executor or found.executor, path.send.max_message_size or found.max_message_size
    if (executor, size) != (found.executor, found.max_message_size):
        entries.append(_entry(remote, EXECUTOR, encode([_EXECUTOR], [(size, executor)])))
    if entries:
        calls["send-config"] = call(ENDPOINT, at, "setConfig", token, library, entries)
    return calls


def _receiving_changes(at: str, token: str, remote: int, path: PathSettings, found: Receiving) -> dict[str, Call]:
    calls, library = {}, path.receive.library or found.library
    if not found.is_pinned or found.library != library:
        calls["receive-library"] = call(ENDPOINT, at, "setReceiveLibrary", token, remote, library, 0)
    verifiers = Verifiers.of(path, path.receive)
    if found.verifiers != verifiers:
        entry = _entry(remote, ULN, verifiers.encoded())
        calls["receive-config"] = call(ENDPOINT, at, "setConfig", token, library, [entry])
    return calls


def _entry(remote: int, kind: int, config: bytes) -> Mapping[str, Any]:
    return {"eid": remote, "configType": kind, "config": config}


def _addresses(values: Any) -> tuple[str, ...]:
    return tuple(str(to_checksum_address(value)) for value in values)


def _bytes(data: str) -> bytes:
    return bytes.fromhex(data.removeprefix("0x"))


def _number(address: str) -> int:
    return int(address, 16)
