"""What an operation needs of its caller: declared once, checked by the guard, told by the OpenAPI document."""

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
    """Of `scopes` one, and of `action` one; the rest says which credentials will do."""

    scopes: tuple[Scope, ...] = ()
    organization: str = "orgId"
    """The path parameter that names it, or OPEN, or ANY_ORGANIZATION."""
    action: tuple[Scope, ...] = ()
    """The scopes of the actions it may be about; which of them, the operation sees once it has found what is meant."""
    person: bool = False
    """A key alone will not do."""
    both: bool = False
    """A person and a key, each with the right to it."""
    browser: bool = False
    """A person in their browser, by its session."""
    identity: IdentityScope | None = None
    """An access token of a person, and nothing else; one of an application has this scope."""
    fresh: bool = False
    """A person in their browser has shown their second factor within the last 5 minutes, or where they have none, has
    signed in or given their password or a wallet's signature. Dry runs do not ask."""

    @property
    def is_open(self) -> bool:
        """Whether it needs no credential."""
        return self.organization == OPEN

    @property
    def groups(self) -> list[tuple[Scope, ...]]:
        """One scope of each of these has to be held."""
        return [group for group in (self.scopes, self.action) if group]

    @property
    def alternatives(self) -> list[list[str]]:
        """Every set of scopes that will do; one empty set where none is needed."""
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
    both: bool = False,
    browser: bool = False,
    identity: IdentityScope | None = None,
    fresh: bool = False,
) -> Callable[[F], F]:
    """Say what an operation needs (`Needs`): one of `scopes`, in the organization that the path parameter names."""

    def mark(endpoint: F) -> F:
        endpoint.__needs__ = Needs(scopes, organization, action, person, both, browser, identity, fresh)  # type: ignore[attr-defined]
        return endpoint

    return mark


def public(endpoint: F) -> F:
    """Say that an operation needs no credential."""
    endpoint.__needs__ = Needs(organization=OPEN)  # type: ignore[attr-defined]
    return endpoint
