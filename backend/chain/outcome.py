"""What a confirmed transaction left behind."""

from dataclasses import dataclass, field
from typing import Any

from backend.chain.codec import event_of
from backend.chain.errors import MissingEvent


@dataclass(frozen=True, slots=True)
class Log:
    """One event as the chain keeps it. `topics` and `data` are hexadecimal."""

    address: str
    topics: tuple[str, ...]
    data: str
    block_number: int
    block_hash: str
    tx_hash: str
    log_index: int

    def decoded(self) -> tuple[str, dict[str, Any]] | None:
        """Name and arguments, None where it is no event of our contracts."""
        return event_of(self.topics, self.data)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A confirmed transaction, read back from the chain."""

    tx_hash: str
    block_number: int
    block_hash: str
    contract_address: str | None
    gas_used: int
    logs: tuple[Log, ...] = field(default=(), repr=False)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Arguments of every event of that name, in order; `_address` and `_log_index` say where it came from."""
        found = []
        for log in self.logs:
            decoded = log.decoded()
            if decoded is not None and decoded[0] == name:
                found.append({**decoded[1], "_address": log.address, "_log_index": log.log_index})
        return found

    def event(self, name: str) -> dict[str, Any]:
        """The first event of that name. Raises MissingEvent where there is none."""
        found = self.events(name)
        if not found:
            raise MissingEvent(f"{self.tx_hash} has no event {name}")
        return found[0]

    @property
    def created(self) -> str:
        """The address of the contract it created. Raises MissingEvent where it created none."""
        if self.contract_address is None:
            raise MissingEvent(f"{self.tx_hash} created no contract")
        return self.contract_address
