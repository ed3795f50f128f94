"""Readiness of the server: the startup tasks that are done and those that remain."""

from dataclasses import dataclass, field

from backend.core.runtime import runtime


@dataclass
class Readiness:
    """`/v1/ready` returns 503 until no task remains; `notes` lists parts that work in degraded mode."""

    waiting: list[str] = field(default_factory=lambda: ["migrations", "chains", "contracts", "demo data"])
    failure: str | None = None
    notes: list[str] = field(default_factory=list)
    doing: str = "Starting"
    """What the creation of the demo is at."""
    percent: int = 0
    """How much of the demo exists."""

    def at(self, doing: str, percent: int) -> None:
        """Set how far the creation of the demo is."""
        self.doing, self.percent = doing, percent

    def done(self, name: str) -> None:
        """Mark a task as done."""
        if name in self.waiting:
            self.waiting.remove(name)

    @property
    def is_ready(self) -> bool:
        """Return whether all tasks are done."""
        return not self.waiting and self.failure is None


def readiness() -> Readiness:
    """Return the readiness of this process."""
    return runtime.part(Readiness)
