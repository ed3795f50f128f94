"""Who is calling: from the request's credentials to a principal, and from a principal to what it may do where."""

from dataclasses import dataclass, field
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request

from backend import db
from backend.auth import tokens
from backend.auth.scopes import Scope, highest, scopes_of
from backend.auth.secrets import digest, is_api_key
from backend.errors import BadRequest, Forbidden, InsufficientScope, Unauthenticated
from backend.fields import Network
from backend.members.schemas import Role
from backend.settings import settings

NOWHERE = UUID(int=0)
"""Before an organization is entered."""
FOREIGN = "This organization is not yours, or does not exist."


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in."""

    user_id: UUID
    email: str
    display_name: str
    session_id: UUID
    organization_id: UUID | None
    by_cookie: bool = False


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
    def role(self) -> Role | None:
        """The widest role in the entered organization; None for a key alone."""
        return highest(self.roles)

    async def enter(self, organization_id: UUID, *needed: Scope) -> None:
        """Take an organization as the request's own: 403 where the principal has no place there or lacks every one
        of the `needed` scopes (one of them is enough)."""
        await self.widen(organization_id)
        self.organization_id = organization_id
        self.network = await self._network()
        if needed and not self.scopes.intersection(needed):
            raise InsufficientScope(needed[0])

    async def widen(self, organization_id: UUID) -> list[Role]:
        """Let the transaction see one more organization; returns (and remembers) the caller's roles there."""
        if self.key:
            if organization_id != self.key.organization_id:
                raise Forbidden(FOREIGN)
            await db.scope(self.session, [organization_id])
            self.scopes, self.roles = self.key.scopes, []
        if self.person:
            roles = await _enter(self.session, self.person.user_id, organization_id)
            if not roles or roles == [Role.CLIENT]:
                raise Forbidden(FOREIGN)
            self.roles = roles
            self.scopes = scopes_of(roles) & self.key.scopes if self.key else scopes_of(roles)
        return self.roles

    async def roles_in(self, organization_id: UUID) -> list[Role]:
        """The roles of the person (or of the key's creator) in any organization; empty where there is none."""
        if self.user_id is None:
            return []
        found = await self.session.scalar(
            sa.text("select signum_roles(:person, :org)"), {"person": self.user_id, "org": organization_id}
        )
        return [Role(r) for r in found or []]

    def require(self, *needed: Scope) -> None:
        """403 insufficient-scope where none of the scopes is held."""
        if not self.scopes.intersection(needed):
            raise InsufficientScope(needed[0])

    def require_person(self) -> Person:
        """The signed-in person; a key alone is a 403."""
        if self.person is None:
            raise Forbidden("This operation needs a signed-in person; an API key cannot do it.")
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
        person = await _by_token(session, bearer)
    elif cookie:
        person = await _by_cookie(session, cookie)
        if person and request.method not in ("GET", "HEAD", "OPTIONS"):
            check_origin(request)
    if key_text:
        key = await _by_key(session, key_text)
    if person is None and key is None:
        raise Unauthenticated(code="invalid_token" if cookie or bearer else "")
    context = Context(session=session, person=person, key=key, address=client_address(request))
    context.request_id = request.state.request_id
    return context


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


async def _by_cookie(session: db.Write, cookie: str) -> Person | None:
    row = (
        await session.execute(sa.text("select * from signum_session(:hash, null)"), {"hash": digest(cookie)})
    ).first()
    if row is None:
        return None
    return Person(
        row.user_id, row.email, row.display_name or row.email, row.session_id, row.organization_id, by_cookie=True
    )


async def _by_token(session: db.Write, token: str) -> Person:
    claims = tokens.verify(token)
    found = await session.execute(sa.text("select * from signum_session(null, :id)"), {"id": UUID(claims["sid"])})
    row = found.first()
    if row is None:
        raise Unauthenticated("The session of this token has ended.", code="invalid_token")
    return Person(row.user_id, row.email, row.display_name or row.email, row.session_id, row.organization_id)


async def _by_key(session: db.Write, key: str) -> Key:
    row = None
    if is_api_key(key):
        row = (await session.execute(sa.text("select * from signum_api_key(:hash)"), {"hash": digest(key)})).first()
    if row is None:
        raise Unauthenticated("The API key is not valid, has expired or was revoked.", code="invalid_token")
    roles = tuple(Role(r) for r in row.creator_roles)
    scopes = frozenset(Scope(s) for s in row.scopes)
    return Key(row.key_id, row.organization_id, row.name, scopes, Network(row.network), row.created_by, roles)


def cookie_name() -> str:
    """`__Host-` binds the cookie to this host where we are reached by https."""
    return "__Host-signum_session" if settings().secure else "signum_session"


def client_address(request: Request) -> str:
    """The caller's address as the connection tells it."""
    return request.client.host if request.client else ""


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
