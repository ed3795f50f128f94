"""The result of a confirmed transaction."""

import time
from dataclasses import dataclass, field
from typing import Any

from backend.chain.abi.codec import event_of
from backend.chain.errors import MissingEvent


@dataclass(frozen=True, slots=True)
class Log:
    """An event as stored by the chain. `topics` and `data` are hexadecimal; `timestamp` is the time of its block (Unix
    seconds), 0 if the node did not return it."""

    address: str
    topics: tuple[str, ...]
    data: str
    block_number: int
    block_hash: str
    tx_hash: str
    log_index: int
    timestamp: int = 0

    def decoded(self) -> tuple[str, dict[str, Any]] | None:
        """Return name and arguments, None if it is not an event of our contracts."""
        return event_of(self.topics, self.data)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A confirmed transaction, read back from the chain."""

    tx_hash: str
    block_number: int
    block_hash: str
    contract_address: str | None
    logs: tuple[Log, ...] = field(default=(), repr=False)
    read_at: float = field(default_factory=time.monotonic, repr=False, compare=False)
    """When it was read back, by `time.monotonic`."""

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the arguments of every event with that name, in order; `_address` and `_log_index` locate it."""
        found = []
        for log in self.logs:
            decoded = log.decoded()
            if decoded is not None and decoded[0] == name:
                found.append({**decoded[1], "_address": log.address, "_log_index": log.log_index})
        return found

    def event(self, name: str) -> dict[str, Any]:
        """Return the first event with that name. Raises MissingEvent if it is missing."""
        found = self.events(name)
        if not found:
            raise MissingEvent(f"{self.tx_hash} has no event {name}")
        return found[0]

    @property
    def created(self) -> str:
        """Return the address of the created contract. Raises MissingEvent if it created none."""
        if self.contract_address is None:
            raise MissingEvent(f"{self.tx_hash} did not create a contract")
        return self.contract_address
