"""The progress of a request: its state each time it has changed.

An event is the whole request, and its ID names that state. A client that resumes with the ID of the current state has
missed nothing; with any other ID it gets the current state, which contains every step so far.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.db import Read
from backend.live_updates import frames
from backend.requests import listing, titles
from backend.requests.schemas import FINAL, Request


@dataclass(frozen=True, slots=True)
class State:
    """A state of a request."""

    id: str
    request: Request

    @property
    def is_final(self) -> bool:
        """Return whether the stream ends with it."""
        return self.request.status in FINAL

    def named(self, name: str | None) -> "State":
        """Return it with the name of the request's creator: shared reads do not see a caller's own account."""
        if self.request.created_by_name is not None or name is None:
            return self
        return state_of(self.request.model_copy(update={"created_by_name": name}))

    def shown(self, scopes: Collection[Scope]) -> "State":
        """Return it as a caller with these scopes may see it."""
        return state_of(titles.shown(self.request, scopes))

    def frame(self) -> bytes:
        """Return its event."""
        return frames.event(self.id, _json(self.request))


def state_of(request: Request) -> State:
    """Return a request's state."""
    return State(hashlib.sha256(_json(request)).hexdigest()[:16], request)


def _json(request: Request) -> bytes:
    return request.model_dump_json(by_alias=True).encode()


@dataclass
class Progress:
    """The newest state of a request, shared by its streams."""

    organization_id: UUID
    request_id: UUID
    state: State | None = None

    async def read(self, session: Read) -> bool:
        """Read the request."""
        context = Context(session=session, person=None, key=None, organization_id=self.organization_id)  # type: ignore[arg-type]
        before, self.state = self.state, state_of(await listing.whole(context, self.request_id))
        return before is None or before.id != self.state.id
