"""The principal of a request and its permissions per organization."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID

import sqlalchemy as sa

from backend.auth import investor_entry
from backend.auth.calls import Call
from backend.auth.credential_owners import Key, Person
from backend.auth.scopes import ROLE_SCOPES, IdentityScope, Scope, highest, scopes_of
from backend.core import db, fair_places, replica, roots
from backend.core.changes import NOBODY, Who
from backend.core.errors import (
    AddressNotAllowed,
    BothCredentialsNeeded,
    Forbidden,
    InsufficientScope,
    SecondFactorRequired,
    Unauthenticated,
)
from backend.core.fields import Network
from backend.core.ip_ranges import address_of
from backend.limits.client_address import group
from backend.users.schemas import Role

NOWHERE = UUID(int=0)
"""Placeholder until an organization is entered."""
FOREIGN = "This organization does not exist, or you are not a member."


@dataclass
class Context:
    """A request's principal, its transaction, and the organization it has entered."""

    session: db.Write
    person: Person | None
    key: Key | None
    address: str = ""
    request_id: str = ""
    organization_id: UUID = NOWHERE
    investor: UUID | None = None
    """The membership as which a client has entered (`enter_as_investor`)."""
    roles: list[Role] = field(default_factory=list)
    scopes: frozenset[Scope] = frozenset()
    network: Network = Network.TESTNET
    call: Call | None = None
    sent_both: bool = False
    """Whether an API key was sent beside a token or session."""
    has_entered: bool = False
    """Whether the transaction sees the key's organization since the key's lookup, until it is entered."""
    allowed_in: set[UUID] = field(default_factory=set)
    """Organizations that are known to allow the caller's address."""
    is_caller: bool = True
    """Whether the principal sends this request.

    False where another person's request acts for them: their address is then unknown, and the allowed IP ranges were
    checked for the sender.
    """

    @property
    def user_id(self) -> UUID | None:
        """Return the person responsible for the request: the caller, or the key's creator."""
        return self.person.user_id if self.person else (self.key.created_by if self.key else None)

    @property
    def name(self) -> str:
        """Return a stable name of the principal for rate limits.

        An IPv6 address without a credential counts by its /64.
        """
        if self.key:
            return f"key:{self.key.key_id}"
        return f"user:{self.person.user_id}" if self.person else f"address:{group(self.address)}"

    @property
    def caller(self) -> str:
        """Return a stable name of all credentials of the request: the key, and the person who was sent with it."""
        return f"{self.name}:{self.person.user_id}" if self.key and self.person else self.name

    @property
    def who(self) -> Who:
        """Return the actor of the request's changes."""
        credential = NOBODY
        if self.key:
            credential = f"key:{self.key.key_id}"
        elif self.person:
            credential = "session" if self.person.by_cookie else "token"
        opened = self.person.session_id if self.person else None
        is_granted = self.person is not None and self.person.granted is not None
        grant, own = (opened, None) if is_granted else (None, opened)
        return Who(self.user_id, credential, self.request_id or None, self.address or None, grant, own)

    @property
    def is_person(self) -> bool:
        """Return whether a person sent this request themselves: neither a key alone nor an application did."""
        return self.person is not None and self.person.granted is None

    @property
    def home(self) -> UUID | None:
        """Return the organization of a key or an application; None for a person."""
        return self.key.organization_id if self.key else (self.person.within if self.person else None)

    @property
    def role(self) -> Role | None:
        """Return the widest role in the entered organization; None for a key alone."""
        return highest(self.roles)

    @asynccontextmanager
    async def in_new_transaction(self) -> AsyncIterator["Context"]:
        """Return the same principal in the same organization, in a new transaction: for a response that is still
        streaming after the request's transaction has ended.

        Its proofs remain valid for the whole response.
        """
        async with db.transaction(*self._entered) as session:
            yield await self._again(session)

    @asynccontextmanager
    async def in_later_read(self) -> AsyncIterator["Context"]:
        """Return the same as `in_new_transaction`, for what only reads: on the replica, where that is current."""
        async with replica.current(*self._entered) as session:
            if session is not None:
                yield await self._again(session)
                return
        async with self.in_new_transaction() as later:
            yield later

    @property
    def _entered(self) -> tuple[UUID, ...]:
        """Return the organization whose rows a new transaction sees; an investor enters it in another way."""
        return () if self.organization_id == NOWHERE or self.investor else (self.organization_id,)

    async def _again(self, session: db.Write) -> "Context":
        """Return the same principal in another transaction, which sees the entered organization."""
        if self.person:
            await db.see_oneself(session, self.person.user_id)
        if self.investor:
            await investor_entry.enter(session, self.investor, self.ip_address)
        return replace(self, session=session)

    async def enter(self, organization_id: UUID, *needed: Scope) -> None:
        """Enter an organization: 403 where the principal is not a member or has none of the `needed` scopes."""
        await self.widen(organization_id)
        self.organization_id = organization_id
        fair_places.path.set(roots.known(organization_id) or await roots.learn(self.session, organization_id))
        self.network = await self._network()
        if needed and not self.scopes.intersection(needed):
            raise InsufficientScope(*needed)

    async def enter_as_investor(self, membership_id: UUID) -> investor_entry.Entered:
        """Enter an organization as the client of a membership: without scopes, and only their own rows are visible.

        404 where the person has no such membership.
        """
        self.require_person(in_browser=True)
        found = await investor_entry.enter(self.session, membership_id, self.ip_address)
        self.organization_id, self.investor, self.network = found.organization_id, membership_id, found.network
        self.roles, self.scopes = [Role.CLIENT], frozenset()
        return found

    async def widen(self, organization_id: UUID) -> list[Role]:
        """Make an organization visible to the transaction; return and store the caller's roles there.

        403 where the caller is not a member, or the organization does not allow the caller's address.
        """
        lacks_factor = False
        if self.key:
            if organization_id != self.key.organization_id:
                raise Forbidden(FOREIGN)
            if not self.has_entered:
                await db.scope(self.session, [organization_id])
            self.has_entered = False
            self.scopes, self.roles = self.key.scopes, []
        if self.person:
            lacks_factor = await self._enter_as(self.person, organization_id)
        await self.check_address(organization_id)
        if lacks_factor:
            raise SecondFactorRequired
        return self.roles

    async def check_address(self, organization_id: UUID) -> None:
        """Raise 403 where the IP ranges of an organization, or of one above it, exclude the caller's address."""
        if not self.is_caller or organization_id in self.allowed_in:
            return
        text = sa.text("select id, name from signum_refusing(:org, cast(:address as inet))")
        found = await self.session.execute(text, {"org": organization_id, "address": self.ip_address})
        if row := found.first():
            raise AddressNotAllowed.by_organization(self.ip_address, row.id, row.name)
        self.allowed_in.add(organization_id)

    @property
    def ip_address(self) -> str | None:
        """Return the caller's address in the form that allowed IP ranges compare; None where it is unknown."""
        return address_of(self.address)

    async def _enter_as(self, person: Person, organization_id: UUID) -> bool:
        """Enter with the person's roles; return whether they lack a second factor that is required there."""
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
        """Return whether an organization is that of the key and of the application, or below it."""
        tops = {self.key.organization_id if self.key else None, self.person.within if self.person else None} - {None}
        if not tops:
            return True
        path = await self.session.scalars(sa.text("select id from signum_path(:org)"), {"org": organization_id})
        return tops <= set(path.all())

    async def roles_in(self, organization_id: UUID) -> list[Role]:
        """Return the roles in any organization that all credentials of the request allow.

        Those are the roles of the person, or of the key's creator. A key and an application allow none outside their
        organization and those below it, and none with a scope that they lack.
        """
        if self.user_id is None or not await self._is_within(organization_id):
            return []
        found = await self.session.scalar(
            sa.text("select signum_roles(:person, :org)"), {"person": self.user_id, "org": organization_id}
        )
        return [role for role in map(Role, found or []) if self._may_use(role)]

    def _may_use(self, role: Role) -> bool:
        """Return whether the key and the application have every scope of a role."""
        bounds = [self.key.scopes if self.key else None, self.person.granted if self.person else None]
        return all(bound is None or ROLE_SCOPES[role] <= bound for bound in bounds)

    def require(self, *needed: Scope) -> None:
        """Raise 403 insufficient-scope where none of the scopes is held."""
        if not self.scopes.intersection(needed):
            raise InsufficientScope(*needed)

    def require_person(self, *, in_browser: bool = False, because: str = "") -> Person:
        """Return the signed-in person; 403 for an API key alone and for an application that acts for a person.

        With `in_browser`, only a browser session is accepted. `because` says why, and who can do it.
        """
        if self.person is None:
            raise Forbidden(f"This operation needs a signed-in person. API keys are not accepted. {because}".rstrip())
        if self.person.granted is not None:
            refused = "Applications that act for a person are not accepted."
            raise Forbidden(f"This operation needs the person directly. {refused} {because}".rstrip())
        if in_browser and not self.person.by_cookie:
            raise Forbidden("This operation needs a browser session. Tokens are not accepted.")
        return self.person

    def require_fresh_factor(self, *, by_token: bool = False) -> None:
        """Raise 403 where a person with a second factor has not confirmed it in this session within the last 5 minutes.

        Applies to browsers, and to tokens only with `by_token`. A person without a factor passes.
        """
        person = self.person
        if person is not None and person.has_factor and (person.by_cookie or by_token):
            person.require_confirmed()

    def require_fresh_proof(self) -> None:
        """Raise 403 where a browser session has not confirmed its person within the last 5 minutes
        (`Person.confirmed_at`).

        Tokens and keys pass.
        """
        if self.person is not None and self.person.by_cookie:
            self.person.require_confirmed()

    def require_token(self, scope: IdentityScope) -> Person:
        """Return the person of an access token: 401 for any other credential, 403 for an application's token without
        the scope.
        """
        if self.person is None or self.person.by_cookie:
            raise Unauthenticated(
                "This operation needs a person's access token. API keys and cookies are not accepted."
            )
        if self.person.granted is not None and scope not in self.person.granted:
            raise InsufficientScope(scope)
        return self.person

    def require_both(self) -> None:
        """Raise 401 unless an API key was sent beside a session or an access token (a person's or a client's)."""
        if not self.sent_both:
            raise BothCredentialsNeeded

    async def _network(self) -> Network:
        if self.key:
            return self.key.network
        found = await self.session.scalar(
            sa.text("select network from organizations where id = :id"), {"id": self.organization_id}
        )
        return Network(found)


async def _enter(session: db.Write, person: UUID, organization_id: UUID) -> tuple[list[Role], bool]:
    """Return the person's roles in the organization, and whether it requires a second factor."""
    text = sa.text("select signum_enter(:person, :org), signum_requires_factor(:org)")
    found, requires_factor = (await session.execute(text, {"person": person, "org": organization_id})).one()
    return [Role(r) for r in found or []], requires_factor
