"""The demo's people on the sign-in page, and how far the demo's creation is."""

import asyncio
from dataclasses import dataclass
from functools import partial

import reflex as rx

from backend.client import ApiProblem, SessionClient, client
from backend.demo_people.schemas import Demo
from backend.limits.client_address import is_of_proxy
from backend.users.schemas import Role
from state.core.api import Api
from state.core.session import initials

ROLES = {Role.ADMIN: "Admin", Role.COMPLIANCE_OFFICER: "Compliance officer", Role.CLIENT: "Investor"}
LOOKS = 900
"""How often the progress is read, once a second."""


@dataclass
class DemoPersonView:
    """A person of the demo."""

    role: str
    title: str
    name: str
    mark: str
    task: str


class DemoPeople(Api, rx.State):
    """The demo's people; none where the API does not offer them to this browser."""

    people: list[DemoPersonView] = []
    is_creating: bool = False
    doing: str = ""
    percent: int = 0
    start_over_path: str = ""

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> None:
        """Read the people; while the demo is created, its progress each second."""
        for _ in range(LOOKS):
            async with self:
                call = self._as_browser().get_demo()
            try:
                demo = await call
            except ApiProblem:
                demo = None
            async with self:
                self._show(demo)
            if demo is None or demo.is_ready:
                return
            await asyncio.sleep(1)

    def _as_browser(self) -> SessionClient:
        """Return the API as the browser itself would call it, with what its proxies say: the API decides by that."""
        sent = self.router.headers.raw_headers.items()
        own = {name: text for name, text in sent if name in ("host", "origin") or is_of_proxy(name)}
        refused = partial(self._check_session, self.router.headers.cookie)
        return SessionClient(client, "", self._origin(), refused, headers=own)

    def _show(self, demo: Demo | None) -> None:
        self.is_creating = demo is not None and not demo.is_ready
        self.doing, self.percent = (demo.doing, demo.percent) if demo else ("", 0)
        self.start_over_path = (demo.start_over_path if demo else None) or ""
        self.people = [
            DemoPersonView(one.role, ROLES[one.role], one.name, initials(one.name), one.task)
            for one in (demo.people if demo else [])
        ]
