"""The console's sockets: states of browsers without a session are dropped early, and their reports are not logged.

`backend.server.request_guard` counts sockets and notes in their scope who opened them; Reflex's namespace reads that
here.
"""

import asyncio
import logging
from typing import Any

import reflex as rx
from reflex.app import EventNamespace
from reflex.istate.manager.memory import StateManagerMemory
from reflex_base.event.context import EventContext
from reflex_base.registry import RegistrationContext

from backend.server.request_guard import VISITOR, Visitor, visitor

FORGET_AFTER = 5.0
"""Seconds from the end of a socket without a session until its state is dropped; reloading a page takes less."""
OF_CONNECTIONS = ("engineio", "socketio")
OF_EVENTS = ("reflex", "reflex_base", "signum")
"""Loggers of Reflex, by the first part of their names."""
NOBODY = Visitor(None)
log = logging.getLogger("signum.console")


class Sockets(EventNamespace):
    """Reflex's namespace, extended with who opened each socket."""

    def __init__(self, namespace: str, app: rx.App) -> None:
        super().__init__(namespace, app)
        self._visitors: dict[str, Visitor] = {}
        """Users, by socket id."""
        self.strangers: set[str] = set()
        """Tokens of tabs without a session."""

    async def on_connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> None:
        """Record the user of the socket, then connect as Reflex does."""
        self._visitors[sid] = environ.get("asgi.scope", {}).get(VISITOR, NOBODY)
        await super().on_connect(sid, environ, auth)

    async def link_token_to_sid(self, sid: str, token: str, *, update_state: bool = True) -> None:
        """Record the user of the tab under the token that Reflex assigns, which differs for a duplicated tab."""
        await super().link_token_to_sid(sid, token, update_state=update_state)
        linked = self.sid_to_token.get(sid, token)
        if self._visitors.get(sid, NOBODY).is_stranger:
            self.strangers.add(linked)
        else:
            self.strangers.discard(linked)

    async def on_event(self, sid: str, data: Any) -> None:
        """Run an event that has a handler. Reflex would log any other event in full and wait for it to finish."""
        if _has_handler(data):
            await super().on_event(sid, data)
        elif not self._visitors.get(sid, NOBODY).is_stranger:
            name = str(data.get("name", ""))[:100] if isinstance(data, dict) else ""
            log.warning("console.event_unknown: %r", name)

    async def on_client_error(self, sid: str, data: Any = None) -> None:
        """Accept error reports from signed-in browsers only."""
        if not self._visitors.get(sid, NOBODY).is_stranger:
            await super().on_client_error(sid, data)

    def on_disconnect(self, sid: str) -> "asyncio.Task[None] | None":
        """Schedule dropping the state of a tab without a session."""
        token = self.sid_to_token.get(sid)
        if self._visitors.pop(sid, NOBODY).is_stranger and token:
            asyncio.get_running_loop().call_later(FORGET_AFTER, self.forget, token)
        return super().on_disconnect(sid)

    def forget(self, token: str) -> None:
        """Drop the state of a tab that is no longer open."""
        manager = self.app.state_manager
        if token in self._token_manager.token_to_socket or not isinstance(manager, StateManagerMemory):
            return
        self.strangers.discard(token)
        for _, kept in list(manager._token_expires_at.values()):
            if kept.ident == token:
                manager._purge_token(kept)


def install(app: rx.App) -> Sockets:
    """Replace Reflex's namespace with ours, and filter log lines caused by clients without a session."""
    before = app.event_namespace
    if before is None or app.sio is None:
        raise RuntimeError("The console has no socket.")
    sockets = Sockets(before.namespace, app)
    app._event_namespace = sockets
    app.sio.register_namespace(sockets)
    known = (name for name in logging.root.manager.loggerDict if name.partition(".")[0] in OF_CONNECTIONS + OF_EVENTS)
    for name in {*known, *OF_CONNECTIONS, *OF_EVENTS}:
        logging.getLogger(name).addFilter(lambda record: not is_a_strangers(sockets, record))
    return sockets


def is_a_strangers(sockets: Sockets, record: logging.LogRecord) -> bool:
    """Return whether a log line is about an event from a client without a session."""
    if record.name.partition(".")[0] in OF_CONNECTIONS:
        return (visitor.get() or NOBODY).is_stranger
    try:
        token = EventContext.get().token
    except LookupError:
        token = ""
    if token:
        return token in sockets.strangers
    # Shared tasks that a socket happened to start carry its user in their context too; their lines are not filtered.
    who = visitor.get()
    return who is not None and who.is_stranger and who.task is asyncio.current_task()


def _has_handler(data: Any) -> bool:
    name = data.get("name") if isinstance(data, dict) else None
    return isinstance(name, str) and name in RegistrationContext.get().event_handlers
