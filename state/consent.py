"""What an application asks of the person: the page between it and its code."""

from urllib.parse import parse_qsl

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads


class ConsentState(Loads, rx.State):
    """The request in the page's query. The form sends the query as it came; the API checks it again."""

    name: str = ""
    organization: str = ""
    host: str = ""
    wishes: list[str] = []
    email: str = ""
    query: str = ""

    @rx.event
    async def load(self):
        """Read who asks, and for what."""
        self.query, self.name = self.router.url.query[:8_000], ""
        try:
            asked = await self._api("GET", "/oauth/consent", params=dict(parse_qsl(self.query)))
            me = await self._api("GET", "/auth/me")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.name, self.organization = asked["client_name"], asked["organization_name"]
        self.host, self.email = asked["redirect_host"], me["user"]["email"]
        self.wishes = [scope["description"] for scope in asked["scopes"]][:50]
        self._loaded()
