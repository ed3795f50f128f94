"""Permissions of operations: declared once, checked by the guard, documented in the OpenAPI document."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from backend.auth.scopes import IdentityScope, Scope

F = TypeVar("F", bound=Callable[..., Any])
OPEN = "open"
"""No credential needed."""
ANY_ORGANIZATION = "any"
"""A credential is needed; the operation itself enters an organization."""


@dataclass(frozen=True)
class Needs:
    """Requirements of an operation: one of `scopes`, one of `action`, and the accepted credentials."""

    scopes: tuple[Scope, ...] = ()
    organization: str = "orgId"
    """The path parameter that names the organization, or OPEN, or ANY_ORGANIZATION."""
    action: tuple[Scope, ...] = ()
    """Scopes of the possible actions; the operation checks the one that applies after it has loaded its subject."""
    person: bool = False
    """An API key alone is refused."""
    because: str = ""
    """Why, and who can do it, for that refusal."""
    both: bool = False
    """A person and a key are required, each with the scopes."""
    browser: bool = False
    """A person with a browser session is required."""
    identity: IdentityScope | None = None
    """A person's access token is required; an application's token must have this scope."""
    fresh: bool = False
    """A browser session must have confirmed a second factor within the last 5 minutes; without a factor, it must have
    signed in, or confirmed with a password or wallet signature, in that time.

    Dry runs are exempt.
    """

    @property
    def is_open(self) -> bool:
        """Return whether no credential is needed."""
        return self.organization == OPEN

    @property
    def groups(self) -> list[tuple[Scope, ...]]:
        """Return the groups of which one scope each is required."""
        return [group for group in (self.scopes, self.action) if group]

    @property
    def alternatives(self) -> list[list[str]]:
        """Return every sufficient set of scopes; one empty set where none is needed."""
        if self.identity:
            return [[str(self.identity)]]
        found: list[list[str]] = [[]]
        for group in self.groups:
            found = [[*before, str(scope)] for before in found for scope in group]
        return found


def requires(
    *scopes: Scope,
    organization: str = "orgId",
    action: tuple[Scope, ...] = (),
    person: bool = False,
    because: str = "",
    both: bool = False,
    browser: bool = False,
    identity: IdentityScope | None = None,
    fresh: bool = False,
) -> Callable[[F], F]:
    """Declare the requirements of an operation (`Needs`): one of `scopes`, in the organization that the path parameter
    names.
    """

    def mark(endpoint: F) -> F:
        endpoint.__needs__ = Needs(scopes, organization, action, person, because, both, browser, identity, fresh)  # type: ignore[attr-defined]
        return endpoint

    return mark


def public(endpoint: F) -> F:
    """Declare that an operation needs no credential."""
    endpoint.__needs__ = Needs(organization=OPEN)  # type: ignore[attr-defined]
    return endpoint
