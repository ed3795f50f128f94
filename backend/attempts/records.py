"""The newest attempt of each kind, as a file in the data folder: it survives a killed server, and a reset deletes it.

Not a table, because attempts exist only where the whole installation is one embedded process.
"""

from pathlib import Path
from uuid import UUID

from backend.attempts.schemas import Attempt, AttemptCall, AttemptFact, AttemptKind, AttemptStatus, AttemptStep
from backend.core.db import now
from backend.core.settings import settings


def read(kind: AttemptKind) -> Attempt:
    """Return the newest attempt of a kind; an untried one where this version cannot read it."""
    try:
        return Attempt.model_validate_json(_file(kind).read_text())
    except (FileNotFoundError, ValueError):
        return Attempt(kind=kind)


def write(attempt: Attempt) -> None:
    """Store an attempt in place of its kind's earlier one."""
    part = _file(attempt.kind).with_suffix(".part")
    part.parent.mkdir(mode=0o700, exist_ok=True)
    part.write_text(attempt.model_dump_json())
    part.replace(_file(attempt.kind))


def _file(kind: AttemptKind) -> Path:
    return settings().home / "attempts" / f"{kind}.json"


class Record:
    """An attempt while it runs: everything that happens is stored immediately."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt

    @classmethod
    def begun(cls, kind: AttemptKind) -> "Record":
        """Return the record of an attempt that begins now."""
        record = cls(Attempt(kind=kind, status=AttemptStatus.RUNNING, began_at=now()))
        write(record.attempt)
        return record

    @property
    def kind(self) -> AttemptKind:
        """What is attempted."""
        return self.attempt.kind

    def say(self, words: str) -> None:
        """Note what was done or what happened."""
        self.attempt.steps.append(AttemptStep(seconds=self._seconds(), words=words))
        write(self.attempt)

    def called(self, call: AttemptCall) -> None:
        """Note a call, and both verdicts."""
        self.attempt.calls.append(call)
        write(self.attempt)

    def fact(self, name: str, before: str, after: str, *, holds: bool) -> None:
        """Note what the chain holds afterwards."""
        self.attempt.facts.append(AttemptFact(name=name, before=before, after=after, holds=holds))
        write(self.attempt)

    def disturbs(self, request_id: UUID, held_before: int | None = None) -> None:
        """Note the request that is disturbed, and what the receiver of its transfer had before."""
        self.attempt.request_id = request_id
        self.attempt.held_before = None if held_before is None else str(held_before)
        write(self.attempt)

    def right_again(self) -> None:
        """Note the time after which everything was right again; what follows only tidies up."""
        self.attempt.seconds = self._seconds()
        write(self.attempt)

    def end(self, problem: str | None = None) -> None:
        """Note the result."""
        attempt = self.attempt
        is_whole = all(call.agrees and call.rules for call in attempt.calls) and all(f.holds for f in attempt.facts)
        attempt.problem = problem
        attempt.status = AttemptStatus.FAILED if problem else AttemptStatus.HELD if is_whole else AttemptStatus.BROKEN
        if attempt.seconds is None:
            attempt.seconds = self._seconds()
        write(attempt)

    def _seconds(self) -> float:
        began = self.attempt.began_at
        return 0.0 if began is None else round((now() - began).total_seconds(), 1)
