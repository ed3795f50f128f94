"""The applications that the signed-in user has connected, and disconnecting one."""

from dataclasses import dataclass, field

import reflex as rx

from backend.oauth.schemas import ConnectedApplication
from state.core.dates import stamp
from state.core.dialogs import Removes
from state.core.events import Next
from state.core.paging import Listed, Pages


@dataclass
class ConnectionView:
    """A connected application; `what` lists its permissions as text."""

    id: str = ""
    name: str = ""
    organization: str = ""
    what: list[str] = field(default_factory=list)
    connected_at: str = ""
    last_used_at: str = ""
    holds: str = ""


class ConnectionsState(Pages, rx.State):
    """The list of connected applications, in keyset pages."""

    rows: list[ConnectionView] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_connected_applications(cursor=cursor or None)
        self.rows = [connection_view(application) for application in page.applications]
        return page.nextCursor


class Disconnection(Removes, rx.State):
    """The confirmation before an application is disconnected."""

    about: ConnectionView = ConnectionView()

    def _list(self) -> type[Listed]:
        return ConnectionsState

    async def _remove(self) -> Next:
        await self._api.disconnect_application(self.about.id)
        return ConnectionsState.reload

    def _words(self) -> tuple[str, str]:
        return f"{self.about.name} is disconnected", "Its sessions and keys have ended."


def connection_view(application: ConnectedApplication) -> ConnectionView:
    """Convert the API's application."""
    held = [_count(application.sessions, "session"), _count(application.api_keys, "API key")]
    return ConnectionView(
        id=str(application.id),
        name=application.name,
        organization=application.organization_name,
        what=[scope.description for scope in application.scopes],
        connected_at=stamp(application.connected_at),
        last_used_at=stamp(application.last_used_at),
        holds=", ".join(filter(None, held)) or "Consent only",
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}" if number else ""
