"""Authentication: the credentials of a request and their principal."""

from dataclasses import replace
from http.cookies import CookieError, SimpleCookie
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request
from psycopg import sql
from starlette.requests import HTTPConnection

from backend.auth import tokens
from backend.auth.credential_owners import Key, Person
from backend.auth.principal import Context
from backend.auth.scopes import Scope, scopes_of
from backend.auth.secrets import digest, is_api_key
from backend.core import db, ip_ranges
from backend.core.connections import engines
from backend.core.errors import AddressNotAllowed, Forbidden, Unauthenticated
from backend.core.fields import Network
from backend.core.settings import settings
from backend.limits import proxy_warning
from backend.limits.client_address import caller, is_ignored, is_own_origin
from backend.users.schemas import Role

_BY_HASH = sql.SQL(
    "select k.*, not exists (select from signum_refusing(k.organization_id, {address}::inet)) as allows_address,"
    " case when k.organization_id = {wanted}::uuid"
    " then set_config('app.organization_ids', k.organization_id::text, true) is not null end as is_entered"
    " from signum_api_key({hash}) k"
)
_BY_COOKIE = sql.SQL("select * from signum_session({hash}, null)")
NO_KEY = "The API key is not valid, has expired or was revoked. Use another one."


async def authenticate(request: Request, session: db.Write, wanted: UUID | None = None) -> Context:
    """Return the context of a request's credentials; 401 where they are missing or one is invalid.

    `wanted` is the organization that the request enters next, which the lookup of its own key does already.
    """
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
        if person and not key_text and request.method not in ("GET", "HEAD", "OPTIONS"):
            check_origin(request)  # a foreign page can make a browser send a cookie, but not a key
    if key_text:
        sent = await by_key(session, key_text, client_address(request), wanted)
        if key and key.key_id != sent.key_id:
            raise Unauthenticated("Two different API keys were sent. Send one.", code="invalid_token")
        key = replace(key, is_entered=sent.is_entered) if key else sent
    if person is None and key is None:
        raise Unauthenticated(code="invalid_token" if cookie or bearer else "")
    context = Context(session=session, person=person, key=key, address=client_address(request))
    if key and key.is_address_allowed:
        context.allowed_in.add(key.organization_id)
    await check_home_address(context)
    context.has_entered = key is not None and key.is_entered
    context.sent_both = bool(key_text) and (person is not None or bool(bearer))
    context.request_id = getattr(request.state, "request_id", "")
    return context


async def check_home_address(context: Context) -> None:
    """Raise 403 where the key, or the organization of the key or application, does not allow the caller's address.

    Keys and applications work from allowed addresses only, also in operations that enter no organization.
    """
    if context.key:
        check_key_address(context.key, context.address)
    if context.home:
        await context.check_address(context.home)


def check_key_address(key: Key, address: str) -> None:
    """Raise 403 where a key does not allow an address."""
    found = ip_ranges.address_of(address)
    if key.allowed_ip_ranges and not ip_ranges.contains(key.allowed_ip_ranges, found):
        raise AddressNotAllowed.by_key(found, key.organization_id, key.name)


async def present(request: Request, session: db.Write) -> Person:
    """Return the signed-in person of an operation that does not require one; 401 and 403 as in operations that do."""
    return (await authenticate(request, session)).require_person()


def _credentials(request: Request) -> tuple[str, str]:
    """Return the bearer JWT and the API key of a request. A key may be in either header."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    header_key = request.headers.get("x-api-key", "")
    if scheme and scheme.lower() != "bearer":
        raise Unauthenticated("The Authorization header must have the form `Bearer <token>`.")
    if value.startswith("sgn_"):
        if header_key and header_key != value:
            raise Unauthenticated("Two different API keys were sent. Send one.", code="invalid_token")
        return "", value
    return value.strip(), header_key


async def by_cookie(session: db.Write, cookie: str) -> Person | None:
    """Return the person of a browser session; None where it has ended."""
    row = await engines.first(session, _BY_COOKIE.format(hash=digest(cookie)))
    if row is None:
        return None
    return _person(row, by_cookie=True)


def _person(row: Any, **more: Any) -> Person:
    name = row.display_name or row.email or ""
    more |= {"has_factor": row.has_factor, "factor_at": row.factor_at, "proven_at": row.proven_at}
    return Person(row.user_id, row.email or "", name, row.session_id, row.organization_id, row.signed_in_at, **more)


async def _by_token(session: db.Write, claims: dict[str, Any]) -> Person:
    found = await session.execute(sa.text("select * from signum_session(null, :id)"), {"id": UUID(claims["sid"])})
    row = found.first()
    if row is None:
        raise Unauthenticated("The session of this token has ended. Sign in again.", code="invalid_token")
    scopes = frozenset(str(claims["scope"]).split())
    if row.client_organization_id is None:
        return _person(row, token_scopes=scopes)
    return _person(row, token_scopes=scopes, granted=scopes, within=row.client_organization_id)


async def by_key(session: db.Write, key: str, address: str, wanted: UUID | None = None) -> Key:
    """Return an API key from its text, sent from an address; 401 where it is invalid. The transaction sees the `wanted`
    organization afterwards if it is the key's."""
    row = None
    if is_api_key(key):
        query = _BY_HASH.format(hash=digest(key), address=ip_ranges.address_of(address), wanted=wanted)
        row = await engines.first(session, query)
    if row is None:
        raise Unauthenticated(NO_KEY, code="invalid_token")
    return replace(_key(row), is_address_allowed=row.allows_address, is_entered=bool(row.is_entered))


async def _by_key_token(session: db.Write, claims: dict[str, Any]) -> Key:
    """Return the key of an access token, limited to the token's scopes; 401 where the key is no longer valid."""
    key = await key_of(session, UUID(claims["key_id"]))
    if key is None:
        raise Unauthenticated(NO_KEY, code="invalid_token")
    return replace(key, scopes=key.scopes & frozenset(str(claims["scope"]).split()))


async def key_of(session: db.Write, key_id: UUID) -> Key | None:
    """Return a key by its id; None where it was revoked or has expired."""
    text = sa.text("select * from signum_api_key_of(:id)")
    row = (await session.execute(text, {"id": key_id})).first()
    return _key(row) if row else None


def _key(row: Any) -> Key:
    """Return a key with at most its creator's current scopes: if the creator was demoted or has left, the key loses
    them too.
    """
    roles = tuple(Role(r) for r in row.creator_roles)
    scopes = frozenset(Scope(s) for s in row.scopes)
    if row.created_by is not None:
        scopes &= scopes_of(list(roles))
    ranges = tuple(row.allowed_ip_ranges)
    return Key(row.key_id, row.organization_id, row.name, scopes, Network(row.network), row.created_by, roles, ranges)


def cookie_name() -> str:
    """Return the name of the session cookie. With https, `__Host-` binds it to this host."""
    return "__Host-signum_session" if settings().secure else "signum_session"


def session_secret(cookies: str) -> str:
    """Return the session's secret in a Cookie header, empty without one."""
    try:
        held = SimpleCookie(cookies).get(cookie_name())
    except CookieError:
        return ""
    return held.value if held else ""


def client_address(request: HTTPConnection) -> str:
    """The caller's address: the connection's, or what a trusted proxy says of it."""
    peer, forwarded = request.client.host if request.client else "", request.headers.getlist("x-forwarded-for")
    if forwarded and is_ignored(peer, forwarded, settings().trusted_proxies):
        proxy_warning.ignored(peer)
    return caller(peer, forwarded, settings().trusted_proxies)


def check_origin(request: Request) -> None:
    """Raise 403 where an unsafe method with a cookie does not come from one of this server's origins (scheme, host and
    port).
    """
    if not is_own_origin(request.headers.get("origin", ""), settings().origins):
        raise Forbidden(
            "The Origin of this request is not this server's. If this is its public address, set it as "
            "SIGNUM_PUBLIC_URL."
        )
