"""What has to be done before we are ready, and what has been."""

from dataclasses import dataclass, field


@dataclass
class Readiness:
    """`/v1/ready` is 503 until nothing is left; `notes` is what works less well than it should."""

    waiting: list[str] = field(default_factory=lambda: ["migrations", "chains", "contracts", "demo data"])
    failure: str | None = None
    notes: list[str] = field(default_factory=list)

    def done(self, name: str) -> None:
        """One thing less to wait for."""
        if name in self.waiting:
            self.waiting.remove(name)

    @property
    def is_ready(self) -> bool:
        """Whether all is done."""
        return not self.waiting and self.failure is None


readiness = Readiness()
