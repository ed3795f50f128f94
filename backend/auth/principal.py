"""Who is calling: from the request's credentials to a principal, and from a principal to what it may do where."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request

from backend import db
from backend.auth import tokens
from backend.auth.address import caller
from backend.auth.rehearsal import Call
from backend.auth.scopes import IdentityScope, Scope, highest, scopes_of
from backend.auth.secrets import digest, is_api_key
from backend.changes import NOBODY, Who
from backend.errors import BadRequest, Forbidden, InsufficientScope, Unauthenticated
from backend.fields import Network
from backend.members.schemas import Role
from backend.settings import settings

NOWHERE = UUID(int=0)
"""Before an organization is entered."""
NO_KEY = "The API key is not valid, has expired or was revoked."
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

    @property
    def user_id(self) -> UUID | None:
        """The person who answers for the request: the caller, or the key's creator."""
        return self.person.user_id if self.person else (self.key.created_by if self.key else None)

    @property
    def name(self) -> str:
        """Stable name of the principal, for rate limits and idempotency."""
        if self.key:
            return f"key:{self.key.key_id}"
        return f"user:{self.person.user_id}" if self.person else f"address:{self.address}"

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
        """Let the transaction see one more organization; returns (and remembers) the caller's roles there."""
        if self.key:
            if organization_id != self.key.organization_id:
                raise Forbidden(FOREIGN)
            await db.scope(self.session, [organization_id])
            self.scopes, self.roles = self.key.scopes, []
        if self.person:
            await self._enter_as(self.person, organization_id)
        return self.roles

    async def _enter_as(self, person: Person, organization_id: UUID) -> None:
        if not await self._is_within(organization_id):
            raise Forbidden(FOREIGN)
        roles = await _enter(self.session, person.user_id, organization_id)
        if not roles or roles == [Role.CLIENT]:
            raise Forbidden(FOREIGN)
        self.roles, self.scopes = roles, scopes_of(roles)
        if self.key:
            self.scopes &= self.key.scopes
        if person.granted is not None:
            self.scopes &= person.granted

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

    def require_token(self, scope: IdentityScope) -> Person:
        """The person of an access token: 401 for any other credential; 403 where the token is that of an application
        without the scope."""
        if self.person is None or self.person.by_cookie:
            raise Unauthenticated("This needs an access token of a person; neither an API key nor a cookie is one.")
        if self.person.granted is not None and scope not in self.person.granted:
            raise InsufficientScope(scope)
        return self.person

    def require_both(self) -> None:
        """401 unless a person and an API key were both sent."""
        if self.person is None or self.key is None:
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


async def _enter(session: db.Write, person: UUID, organization_id: UUID) -> list[Role]:
    found = await session.scalar(
        sa.text("select signum_enter(:person, :org)"), {"person": person, "org": organization_id}
    )
    return [Role(r) for r in found or []]


async def authenticate(request: Request, session: db.Write) -> Context:
    """The context of a request's credentials; 401 where there is none, or one of them is not valid."""
    bearer, key_text = _credentials(request)
    cookie = request.cookies.get(cookie_name())
    person = key = None
    if bearer:
        claims = tokens.verify(bearer)
        if "key_id" in claims:
            key = await _by_key_token(session, claims)
        else:
            person = await _by_token(session, claims)
    elif cookie:
        person = await by_cookie(session, cookie)
        if person and request.method not in ("GET", "HEAD", "OPTIONS"):
            check_origin(request)
    if key_text:
        sent = await by_key(session, key_text)
        if key and key.key_id != sent.key_id:
            raise Unauthenticated("Two different API keys were sent.", code="invalid_token")
        key = key or sent
    if person is None and key is None:
        raise Unauthenticated(code="invalid_token" if cookie or bearer else "")
    context = Context(session=session, person=person, key=key, address=client_address(request))
    context.request_id = request.state.request_id
    return context


async def present(request: Request, session: db.Write) -> Person:
    """The signed-in person of an operation that is open to others too; 401 and 403 as where one is needed."""
    return (await authenticate(request, session)).require_person()


def _credentials(request: Request) -> tuple[str, str]:
    """The bearer JWT and the API key of a request; a key may come by either header."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    header_key = request.headers.get("x-api-key", "")
    if scheme and scheme.lower() != "bearer":
        raise Unauthenticated("The Authorization header takes the form `Bearer <token>`.")
    if value.startswith("sgn_"):
        if header_key and header_key != value:
            raise Unauthenticated("Two different API keys were sent.", code="invalid_token")
        return "", value
    return value.strip(), header_key


async def by_cookie(session: db.Write, cookie: str) -> Person | None:
    """The person of a browser's session; None where it is over."""
    row = (
        await session.execute(sa.text("select * from signum_session(:hash, null)"), {"hash": digest(cookie)})
    ).first()
    if row is None:
        return None
    return _person(row, by_cookie=True)


def _person(row: Any, **more: Any) -> Person:
    name = row.display_name or row.email or ""
    return Person(row.user_id, row.email or "", name, row.session_id, row.organization_id, row.signed_in_at, **more)


async def _by_token(session: db.Write, claims: dict[str, Any]) -> Person:
    found = await session.execute(sa.text("select * from signum_session(null, :id)"), {"id": UUID(claims["sid"])})
    row = found.first()
    if row is None:
        raise Unauthenticated("The session of this token has ended.", code="invalid_token")
    if row.client_organization_id is None:
        return _person(row)
    granted = frozenset(str(claims["scope"]).split())
    return _person(row, granted=granted, within=row.client_organization_id)


async def by_key(session: db.Write, key: str) -> Key:
    """The API key of a text; 401 where it is none."""
    row = None
    if is_api_key(key):
        row = (await session.execute(sa.text("select * from signum_api_key(:hash)"), {"hash": digest(key)})).first()
    if row is None:
        raise Unauthenticated(NO_KEY, code="invalid_token")
    return _key(row)


async def _by_key_token(session: db.Write, claims: dict[str, Any]) -> Key:
    """The key that an access token was issued to: it must be valid still, and the token's scopes bind."""
    key = await key_of(session, UUID(claims["key_id"]))
    if key is None:
        raise Unauthenticated(NO_KEY, code="invalid_token")
    return replace(key, scopes=key.scopes & frozenset(str(claims["scope"]).split()))


async def key_of(session: db.Write, key_id: UUID) -> Key | None:
    """A key by its id; None where it was revoked or has expired."""
    text = sa.text("select * from signum_api_key_of(:id)")
    row = (await session.execute(text, {"id": key_id})).first()
    return _key(row) if row else None


def _key(row: Any) -> Key:
    """Never wider than who made it may do now: somebody who was demoted or left has no key that goes on."""
    roles = tuple(Role(r) for r in row.creator_roles)
    scopes = frozenset(Scope(s) for s in row.scopes)
    if row.created_by is not None:
        scopes &= scopes_of(list(roles))
    return Key(row.key_id, row.organization_id, row.name, scopes, Network(row.network), row.created_by, roles)


def cookie_name() -> str:
    """`__Host-` binds the cookie to this host where we are reached by https."""
    return "__Host-signum_session" if settings().secure else "signum_session"


def client_address(request: Request) -> str:
    """The caller's address: the connection's, or what a trusted proxy says of it."""
    peer = request.client.host if request.client else ""
    return caller(peer, request.headers.getlist("x-forwarded-for"), settings().trusted_proxies)


def check_origin(request: Request) -> None:
    """Unsafe methods by cookie must come from our own pages."""
    origin = request.headers.get("origin", "")
    if not origin or origin.split("://")[-1] != request.headers.get("host", ""):
        raise Forbidden("The Origin of this request is not ours.")


def optional_uuid(value: str | None, name: str) -> UUID | None:
    """A query parameter that is an id; 400 where it is not."""
    try:
        return UUID(value) if value else None
    except ValueError as error:
        raise BadRequest(f"{name} is not an id.") from error
