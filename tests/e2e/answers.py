"""The answers of a page's socket, which a test can hold back."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, WebSocketRoute

Message = str | bytes


class Answers:
    """What the server sends to a page. Create it before the page opens."""

    def __init__(self, page: Page) -> None:
        self._held: list[tuple[WebSocketRoute, Message]] | None = None
        page.route_web_socket(re.compile("/_event"), self._connected)

    def _connected(self, tab: WebSocketRoute) -> None:
        tab.connect_to_server().on_message(lambda message: self._arrived(tab, message))

    def _arrived(self, tab: WebSocketRoute, message: Message) -> None:
        if self._held is None:
            tab.send(message)
        else:
            self._held.append((tab, message))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the answers back; they arrive in their order at the end."""
        self._held = []
        yield
        held, self._held = self._held, None
        for tab, message in held:
            tab.send(message)
