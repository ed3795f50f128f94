"""A run of a request's workflow, and its steps."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from backend.core import db
from backend.core.errors import SignumError
from backend.requests import service as requests
from backend.tracing import spans

OnStored = Callable[[db.Write, str], Awaitable[None]]


@dataclass(frozen=True)
class Run:
    """One run of a workflow: its request and subject."""

    organization_id: UUID
    request_id: UUID
    subject_id: UUID
    arguments: dict[str, Any]
    attempt: int
    outcome: list[tuple[Any, ...]] = field(default_factory=list)
    ended: list["StepNotes"] = field(default_factory=list)
    """Steps that succeeded. The run's next transaction records it, which follows immediately."""
    at_success: list[Callable[[db.Write], Awaitable[None]]] = field(default_factory=list)
    """What is written in the transaction in which the request succeeds."""
    within: db.Write | None = None
    """The single transaction for all its work, where there is one: a request that is denied before it started."""

    def publish(self, action: str, subject: tuple[str, UUID | str], after: dict[str, Any]) -> None:
        """Publish a change without a row of its own: with the request's success, and therefore once, even if the run is
        repeated.
        """
        self.outcome.append((action, subject, None, after))

    @property
    def is_away(self) -> bool:
        """Return whether it currently runs in another order (see `Elsewhere`)."""
        return requests.AWAY in self.arguments

    def key(self, *parts: object) -> str:
        """Return the key of an intent: the same in every run of this request."""
        return ":".join([str(self.request_id), *map(str, parts)])

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[db.Write]:
        """Open a transaction that sees the request's organization."""
        if self.within is not None:
            yield self.within
            return
        ended = self.ended.copy()
        self.ended.clear()  # steps of other chains may end in the meantime
        try:
            async with db.step(self.organization_id) as session:
                for notes in ended:
                    await requests.end_step(session, self.request_id, notes.name, notes.tx_hash, notes.detail)
                yield session
        except BaseException:
            self.ended.extend(ended)
            raise

    async def begin_step(self, session: db.Write, name: str) -> None:
        """Show a step as running, in a transaction that also does something else before it."""
        await requests.begin_step(session, self.request_id, name)

    @asynccontextmanager
    async def step(self, name: str, *, is_begun: bool = False) -> AsyncIterator["StepNotes"]:
        """Show a step as running, unless `begin_step` has; then as succeeded with its notes; as failed where it
        raises."""
        notes = StepNotes(self, name)
        if not is_begun:
            async with self.transaction() as session:
                await self.begin_step(session, name)
        try:
            with spans.span(f"step {name}"):
                yield notes
        except SignumError as error:
            async with self.transaction() as session:
                await requests.fail_step(session, self.request_id, name, error.detail)
            raise
        self.ended.append(notes)


@dataclass
class StepNotes:
    """Notes of a step for the request's timeline."""

    run: Run
    name: str
    tx_hash: str | None = None
    detail: str | None = None

    async def say(self, detail: str, tx_hash: str | None = None, on_stored: "OnStored | None" = None) -> None:
        """Show progress while the step runs. `on_stored` writes the hash to other rows, in the same transaction."""
        self.detail, self.tx_hash = detail, tx_hash or self.tx_hash
        async with self.run.transaction() as session:
            await requests.note_step(session, self.run.request_id, self.name, self.tx_hash, detail)
            if on_stored is not None and tx_hash is not None:
                await on_stored(session, tx_hash)
