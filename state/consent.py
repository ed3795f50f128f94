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
    about_person: list[str] = []
    in_organization: list[str] = []
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
        words = [(scope["scope"], scope["description"]) for scope in asked["scopes"]][:50]
        self.about_person = [said for scope, said in words if not _is_of_organization(scope)]
        self.in_organization = [said for scope, said in words if _is_of_organization(scope)]
        self._loaded()


def _is_of_organization(scope: str) -> bool:
    """Whether a scope opens records of the organization, and not only what is known of the person."""
    return scope.endswith((":read", ":write"))
