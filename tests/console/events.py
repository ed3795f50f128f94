"""The socket without a network: Reflex's own namespace and event processor, and the messages they would send to a
browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from reflex.app import App

from app.app import app as console
from backend.client import client
from backend.core.settings import settings

PATIENCE = 60
"""Seconds that an event and its effects may take."""


@dataclass
class Sent:
    """Messages to one tab since the last read, as JSON would carry them."""

    texts: list[str] = field(default_factory=list)

    def take(self) -> str:
        """Return all messages, and clear them."""
        text, self.texts = "\n".join(self.texts), []
        return text


class Socket:
    """The console's socket as browsers reach it, and the exceptions that its handlers raise."""

    def __init__(self, app: App) -> None:
        self.app, self.namespace = app, app.event_namespace
        self.sent: dict[str, Sent] = {}
        self.failures: list[Exception] = []
        self._handle = app.event_processor.backend_exception_handler
        app.event_processor.backend_exception_handler = self._failed
        self._emit, self.namespace.emit = self.namespace.emit, self._keep
        client._client().event_hooks = {"request": [], "response": [self._answered]}

    async def _answered(self, answer: httpx.Response) -> None:
        if answer.status_code >= 500:
            self.failures.append(RuntimeError(f"{answer.request.method} {answer.request.url}: {answer.status_code}"))

    def _failed(self, exception: Exception) -> Any:
        self.failures.append(exception)
        return self._handle(exception)

    async def _keep(self, event: str, data: Any = None, to: str = "", **_: Any) -> None:
        """Replaces the network."""
        text = self.app.sio.packet_class.json.dumps(data) if data is not None else ""
        self.sent.setdefault(to, Sent()).texts.append(text)

    async def tab(self, cookie: str, path: str, **params: str) -> "Tab":
        """A browser's tab that has just connected at a page."""
        tab = Tab(self, uuid4().hex, path, params)
        tab.opened = await tab.connect(cookie)
        return tab

    async def settle(self) -> None:
        """Wait until no handler runs."""
        async with asyncio.timeout(PATIENCE):
            while futures := list(self.app.event_processor._futures.values()):
                await asyncio.gather(*(future.wait_all() for future in futures), return_exceptions=True)
                await asyncio.sleep(0)
            while tasks := list(self.app.event_processor._tasks.values()):
                await asyncio.wait(tasks)

    def close(self) -> None:
        """Restore the replaced parts."""
        self.namespace.emit = self._emit
        client._client().event_hooks = {}


@dataclass
class Tab:
    """One tab: its token survives sign-ins, as in a browser's session storage."""

    socket: Socket
    sid: str
    path: str
    params: dict[str, str]
    token: str = field(default_factory=lambda: str(uuid4()))
    opened: str = ""
    """The messages to the browser while the page opened."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the connection, besides the cookie and the origin."""
    peer: str = "127.0.0.1"

    def value(self, state: type[Any], var: str) -> Any:
        """Return a var of a state, as the server has it."""
        states = self.socket.app.state_manager.states  # type: ignore[attr-defined]  # of the manager in memory
        root = next(root for key, root in states.items() if key.startswith(self.token))
        return getattr(root.get_substate(state.get_full_name().split(".")), var)

    async def connect(self, cookie: str) -> str:
        """Load the page with a session's cookie; return the messages to the browser."""
        await self.begin(cookie)
        await self.socket.settle()
        return self.socket.sent.setdefault(self.sid, Sent()).take()

    async def begin(self, cookie: str) -> None:
        """Begin to load the page with a session's cookie, while handlers may run on."""
        if self.sid in self.socket.namespace.sid_to_token:
            await self.socket.namespace.on_disconnect(self.sid)
            self.sid = uuid4().hex
        headers = {"cookie": cookie, "origin": settings().origin, **self.headers}
        sent = [(name.encode(), text.encode()) for name, text in headers.items()]
        scope = {"headers": sent, "client": (self.peer, 1)}
        environ = {"QUERY_STRING": f"token={self.token}", "asgi.scope": scope}
        await self.socket.namespace.on_connect(self.sid, environ)
        await self._put("reflex___state____state.hydrate_and_load", {"vars": {}, "hashes": []})

    async def send(self, name: str, payload: Any) -> str:
        """Send an event and wait for its effects; return the messages to the browser."""
        await self._put(name, payload)
        await self.socket.settle()
        return self.socket.sent.setdefault(self.sid, Sent()).take()

    async def send_until(self, name: str, payload: Any, words: str) -> str:
        """Send an event while a handler runs on in the background; return the messages up to these words."""
        sent, said = self.socket.sent.setdefault(self.sid, Sent()), ""
        await self._put(name, payload)
        async with asyncio.timeout(PATIENCE):
            while words not in said:
                await asyncio.sleep(0.01)
                said += sent.take()
        return said

    async def _put(self, name: str, payload: Any) -> None:
        place = {"pathname": self.path, "asPath": self.path, "query": self.params}
        event = {"name": name, "payload": payload, "router_data": place}
        await self.socket.namespace.on_event(self.sid, event)


@asynccontextmanager
async def connected() -> AsyncIterator[Socket]:
    """The console's event processing, running."""
    if not console._unevaluated_pages:
        console._apply_decorated_pages()
    async with console._setup_event_processor():
        socket = Socket(console)
        yield socket
        socket.close()
