"""Who is calling, and what they may do where."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from backend import db
from backend.auth.address import group
from backend.auth.rehearsal import Call
from backend.auth.scopes import IdentityScope, Scope, highest, scopes_of
from backend.changes import NOBODY, Who
from backend.errors import (
    AddressNotAllowed,
    Forbidden,
    FreshFactorNeeded,
    FreshProofNeeded,
    InsufficientScope,
    SecondFactorRequired,
    Unauthenticated,
)
from backend.factors.rules import is_fresh
from backend.fields import Network
from backend.ip_ranges import address_of
from backend.members.schemas import Role

NOWHERE = UUID(int=0)
"""Before an organization is entered."""
FOREIGN = "This organization is not yours, or does not exist."


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in, or an application in their name (`granted` is then what they agreed to, and `within`
    the application's organization: it reaches that and what is below, nothing else)."""

    user_id: UUID
    email: str
    display_name: str
    session_id: UUID
    organization_id: UUID | None
    signed_in_at: datetime
    by_cookie: bool = False
    granted: frozenset[str] | None = None
    within: UUID | None = None
    has_factor: bool = False
    factor_at: datetime | None = None
    """When this session last showed a second factor."""
    proven_at: datetime | None = None
    """When this session last gave a password or a wallet's signature after the sign-in."""

    @property
    def confirmed_at(self) -> datetime | None:
        """When this session last proved its person: by their second factor, or where they have none, by the sign-in, a
        password or a wallet's signature. Null where they have a factor and did not show it."""
        if self.has_factor:
            return self.factor_at
        return max(self.signed_in_at, self.proven_at or self.signed_in_at)

    def require_confirmed(self) -> None:
        """403 where this session did not prove its person within the last 5 minutes, whatever kind of session it is."""
        if not is_fresh(self.confirmed_at, db.now()):
            raise FreshFactorNeeded if self.has_factor else FreshProofNeeded


@dataclass(frozen=True)
class Key:
    """An API key of one organization."""

    key_id: UUID
    organization_id: UUID
    name: str
    scopes: frozenset[Scope]
    network: Network
    created_by: UUID | None
    creator_roles: tuple[Role, ...] = ()
    allowed_ip_ranges: tuple[str, ...] = ()
    """Where it works; empty means everywhere."""


@dataclass
class Context:
    """A request's principal, its one transaction, and the organization it has entered."""

    session: db.Write
    person: Person | None
    key: Key | None
    address: str = ""
    request_id: str = ""
    organization_id: UUID = NOWHERE
    roles: list[Role] = field(default_factory=list)
    scopes: frozenset[Scope] = frozenset()
    network: Network = Network.TESTNET
    call: Call | None = None
    sent_both: bool = False
    """Whether an API key came beside a token or session."""
    allowed_in: set[UUID] = field(default_factory=set)
    """Organizations that are known to allow the caller's address."""
    is_caller: bool = True
    """Whether the principal sends this request. False where another person's request acts for them: then their address
    is unknown, and the allowed IP ranges were checked for the sender."""

    @property
    def user_id(self) -> UUID | None:
        """The person who answers for the request: the caller, or the key's creator."""
        return self.person.user_id if self.person else (self.key.created_by if self.key else None)

    @property
    def name(self) -> str:
        """Stable name of the principal, for rate limits: an IPv6 address without a credential counts by its /64."""
        if self.key:
            return f"key:{self.key.key_id}"
        return f"user:{self.person.user_id}" if self.person else f"address:{group(self.address)}"

    @property
    def caller(self) -> str:
        """Stable name of everybody behind the request: of the key, and of the person who came along."""
        return f"{self.name}:{self.person.user_id}" if self.key and self.person else self.name

    @property
    def who(self) -> Who:
        """Whoever is behind what this request changes."""
        credential = NOBODY
        if self.key:
            credential = f"key:{self.key.key_id}"
        elif self.person:
            credential = "session" if self.person.by_cookie else "token"
        return Who(self.user_id, credential, self.request_id or None, self.address or None)

    @property
    def home(self) -> UUID | None:
        """The one organization that a key or an application comes from; None for a person themselves."""
        return self.key.organization_id if self.key else (self.person.within if self.person else None)

    @property
    def role(self) -> Role | None:
        """The widest role in the entered organization; None for a key alone."""
        return highest(self.roles)

    @asynccontextmanager
    async def anew(self) -> AsyncIterator["Context"]:
        """The same principal in the same organization, in a transaction of its own: for an answer that is still being
        written when the request's has ended. What was proven then holds for the whole answer."""
        entered = () if self.organization_id == NOWHERE else (self.organization_id,)
        async with db.transaction(*entered) as session:
            if self.person:
                await db.see_oneself(session, self.person.user_id)
            yield replace(self, session=session)

    async def enter(self, organization_id: UUID, *needed: Scope) -> None:
        """Take an organization as the request's own: 403 where the principal has no place there or lacks every one
        of the `needed` scopes (one of them is enough)."""
        await self.widen(organization_id)
        self.organization_id = organization_id
        self.network = await self._network()
        if needed and not self.scopes.intersection(needed):
            raise InsufficientScope(*needed)

    async def widen(self, organization_id: UUID) -> list[Role]:
        """Let the transaction see one more organization; returns (and remembers) the caller's roles there. 403 where
        the caller has no place there, or the organization does not allow the caller's address."""
        lacks_factor = False
        if self.key:
            if organization_id != self.key.organization_id:
                raise Forbidden(FOREIGN)
            await db.scope(self.session, [organization_id])
            self.scopes, self.roles = self.key.scopes, []
        if self.person:
            lacks_factor = await self._enter_as(self.person, organization_id)
        await self.check_address(organization_id)
        if lacks_factor:
            raise SecondFactorRequired
        return self.roles

    async def check_address(self, organization_id: UUID) -> None:
        """403 where an organization, or one above it, has allowed IP ranges without the caller's address."""
        if not self.is_caller or organization_id in self.allowed_in:
            return
        text = sa.text("select id, name from signum_refusing(:org, cast(:address as inet))")
        found = await self.session.execute(text, {"org": organization_id, "address": self.ip_address})
        if row := found.first():
            raise AddressNotAllowed.by_organization(self.ip_address, row.id, row.name)
        self.allowed_in.add(organization_id)

    @property
    def ip_address(self) -> str | None:
        """The caller's address as allowed IP ranges compare it; None where it is unknown."""
        return address_of(self.address)

    async def _enter_as(self, person: Person, organization_id: UUID) -> bool:
        """Enter by the person's roles; returns whether they lack a second factor that is required there."""
        if not await self._is_within(organization_id):
            raise Forbidden(FOREIGN)
        roles, requires_factor = await _enter(self.session, person.user_id, organization_id)
        if not roles or roles == [Role.CLIENT]:
            raise Forbidden(FOREIGN)
        self.roles, self.scopes = roles, scopes_of(roles)
        if self.key:
            self.scopes &= self.key.scopes
        if person.granted is not None:
            self.scopes &= person.granted
        return requires_factor and not person.has_factor

    async def _is_within(self, organization_id: UUID) -> bool:
        if self.person is None or self.person.within is None:
            return True
        text = sa.text("select exists (select from signum_path(:org) where id = :top)")
        return bool(await self.session.scalar(text, {"org": organization_id, "top": self.person.within}))

    async def roles_in(self, organization_id: UUID) -> list[Role]:
        """The roles of the person (or of the key's creator) in any organization; empty where there is none."""
        if self.user_id is None or not await self._is_within(organization_id):
            return []
        found = await self.session.scalar(
            sa.text("select signum_roles(:person, :org)"), {"person": self.user_id, "org": organization_id}
        )
        return [Role(r) for r in found or []]

    def require(self, *needed: Scope) -> None:
        """403 insufficient-scope where none of the scopes is held."""
        if not self.scopes.intersection(needed):
            raise InsufficientScope(*needed)

    def require_person(self, *, in_browser: bool = False) -> Person:
        """The signed-in person; a key alone is a 403, and so is an application that acts in a person's name. With
        `in_browser` only the session of a browser will do."""
        if self.person is None:
            raise Forbidden("This operation needs a signed-in person; an API key cannot do it.")
        if self.person.granted is not None:
            raise Forbidden("This operation needs the person themselves; an application cannot do it for them.")
        if in_browser and not self.person.by_cookie:
            raise Forbidden("A person does this in their browser, with its session; no token will do.")
        return self.person

    def require_fresh_factor(self, *, by_token: bool = False) -> None:
        """403 where a person who has a second factor did not show one in this session within the last 5 minutes.

        Browsers are asked, programs only with `by_token`. A person without a factor is not asked.
        """
        person = self.person
        if person is not None and person.has_factor and (person.by_cookie or by_token):
            person.require_confirmed()

    def require_fresh_proof(self) -> None:
        """403 where the session of a browser did not prove its person within the last 5 minutes
        (`Person.confirmed_at`). Programs are not asked."""
        if self.person is not None and self.person.by_cookie:
            self.person.require_confirmed()

    def require_token(self, scope: IdentityScope) -> Person:
        """The person of an access token: 401 for any other credential; 403 where the token is that of an application
        without the scope."""
        if self.person is None or self.person.by_cookie:
            raise Unauthenticated("This needs an access token of a person; neither an API key nor a cookie is one.")
        if self.person.granted is not None and scope not in self.person.granted:
            raise InsufficientScope(scope)
        return self.person

    def require_both(self) -> None:
        """401 unless an API key came beside an access token (a person's, or that of a client) or a session."""
        if not self.sent_both:
            raise Unauthenticated(
                "This operation wants both credentials: an access token or session, and an API key in x-api-key."
            )

    async def _network(self) -> Network:
        if self.key:
            return self.key.network
        found = await self.session.scalar(
            sa.text("select network from organizations where id = :id"), {"id": self.organization_id}
        )
        return Network(found)


async def _enter(session: db.Write, person: UUID, organization_id: UUID) -> tuple[list[Role], bool]:
    """The person's roles in the organization, and whether it requires a second factor."""
    text = sa.text("select signum_enter(:person, :org), signum_requires_factor(:org)")
    found, requires_factor = (await session.execute(text, {"person": person, "org": organization_id})).one()
    return [Role(r) for r in found or []], requires_factor
