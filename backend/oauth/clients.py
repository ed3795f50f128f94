"""Applications: registered by organizations, authenticated by their secret."""

import base64
import binascii
from dataclasses import dataclass
from urllib.parse import unquote_plus
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request

from backend.auth.credential_owners import Key
from backend.auth.credentials import by_key, check_key_address, client_address
from backend.auth.principal import Context
from backend.auth.secrets import KEY_PREFIX, digest
from backend.core.db import Write
from backend.core.errors import Unauthenticated
from backend.core.fields import ClientKind
from backend.oauth.errors import OAuthFault
from backend.oauth.schemas import TokenForm, TokenReference


@dataclass(frozen=True)
class Client:
    """An application, as the protocol uses it."""

    id: UUID
    organization_id: UUID
    organization_name: str
    name: str
    kind: ClientKind
    redirect_uris: tuple[str, ...]
    scopes: tuple[str, ...]
    is_proven: bool


async def find(session: Write, client_id: str | None, secret: str = "") -> Client | None:
    """Return the application of a `client_id`, and whether the secret matches; None where it is unknown or revoked."""
    try:
        id_ = UUID(client_id or "")
    except ValueError:
        return None
    text = sa.text("select * from signum_oauth_client(:id, :hash)")
    row = (await session.execute(text, {"id": id_, "hash": digest(secret) if secret else None})).first()
    if row is None:
        return None
    return Client(
        row.id, row.organization_id, row.organization_name, row.name, ClientKind(row.kind),
        tuple(row.redirect_uris), tuple(row.scopes), row.is_proven,
    )  # fmt: skip


async def authenticate(session: Write, request: Request, form: TokenForm | TokenReference) -> Client | Key:
    """Return the caller: an application with its secret (a public one with its id only), or an API key as the secret of
    its own or its organization's id.

    Anything else is `invalid_client`.
    """
    client_id, secret, by_basic = _sent(request, form)
    wrong = OAuthFault("invalid_client", "The client is unknown, or its secret is incorrect.", status=401,
                       challenge=by_basic)  # fmt: skip
    if secret.startswith(KEY_PREFIX):
        try:
            key = await by_key(session, secret, client_address(request))
        except Unauthenticated:
            raise wrong from None
        if client_id.lower() not in (str(key.key_id), str(key.organization_id)):
            raise wrong
        return key
    client = await find(session, client_id, secret)
    if client is None:
        raise wrong
    is_public = client.kind is ClientKind.PUBLIC and not secret
    if not (client.is_proven or is_public):
        raise wrong
    return client


async def check_address(context: Context, caller: Client | Key) -> None:
    """Raise 403 where the key, or the organization of the key or application, does not allow the caller's address."""
    if isinstance(caller, Key):
        check_key_address(caller, context.address)
    await context.check_address(caller.organization_id)


def _sent(request: Request, form: TokenForm | TokenReference) -> tuple[str, str, bool]:
    """Return id and secret, from HTTP Basic or the form, never both (RFC 6749 2.3)."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return form.client_id or "", form.client_secret or "", False
    if form.client_secret:
        raise OAuthFault("invalid_request", "The client secret was sent in both the header and the form.")
    try:
        user, colon, password = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        user = colon = password = ""
    client_id = unquote_plus(user)
    if not colon or "\0" in client_id or (form.client_id and form.client_id != client_id):
        raise OAuthFault("invalid_client", "The Authorization header is invalid.", status=401, challenge=True)
    return client_id, unquote_plus(password), True
