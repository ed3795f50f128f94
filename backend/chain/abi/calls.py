"""A contract call before it is signed, and the intent that names the signer."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from backend.chain.abi.codec import contract


@dataclass(frozen=True, slots=True)
class Intent:
    """A requested transaction, with a key that stays the same when it is requested again."""

    key: str
    chain_eid: int
    signer: str
    to: str | None
    data: str
    value: int = 0
    organization_id: UUID | None = None
    label: str = ""
    request_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Call data for a contract; `to` None creates a contract. `value` in wei."""

    to: str | None
    data: str
    value: int = 0

    def intent(
        self,
        key: str,
        *,
        eid: int,
        signer: str,
        organization_id: UUID | None = None,
        label: str = "",
        request_id: UUID | None = None,
    ) -> Intent:
        """Return the call as an intent, to be signed by `signer` on the chain `eid`."""
        return Intent(key, eid, signer, self.to, self.data, self.value, organization_id, label, request_id)


def call(name: str, to: str, function: str, *values: Any, value: int = 0) -> Call:
    """Return a call of a function of the contract `name` at `to`."""
    return Call(to, contract(name).data(function, *values), value)


def creation(name: str, *values: Any) -> Call:
    """Return the creation of the contract `name`."""
    return Call(None, contract(name).creation(*values))
