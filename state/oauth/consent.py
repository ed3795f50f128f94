"""The consent page: an application's request for access, before it gets its code."""

from urllib.parse import parse_qsl

import reflex as rx

from backend.client import ApiProblem
from backend.oauth.schemas import AuthorizationQuery
from state.core.api import Loads


class ConsentState(Loads, rx.State):
    """The request in the page's query. The form sends the query unchanged; the API checks it again."""

    name: str = ""
    organization: str = ""
    host: str = ""
    about_person: list[str] = []
    in_organization: list[str] = []
    email: str = ""
    query: str = ""

    @rx.event
    async def load(self) -> None:
        """Read which application asks, and for what."""
        self.query, self.name = self.router.url.query[:8_000], ""
        try:
            consent = await self._api.show_consent(**_parameters(self.query))
            me = await self._api.get_me()
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.name, self.organization = consent.client_name, consent.organization_name
        self.host, self.email = consent.redirect_host, me.user.email or ""
        scopes = consent.scopes[:50]
        self.about_person = [one.description for one in scopes if not _is_of_organization(one.scope)]
        self.in_organization = [one.description for one in scopes if _is_of_organization(one.scope)]
        self._loaded()


def _parameters(query: str) -> dict[str, str]:
    """Return the parameters of an authorization request; others are ignored, as the API does."""
    return {name: value for name, value in parse_qsl(query) if name in AuthorizationQuery.model_fields}


def _is_of_organization(scope: str) -> bool:
    """Return whether a scope covers the organization's records, and not only data about the user."""
    return scope.endswith((":read", ":write"))
