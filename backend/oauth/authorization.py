"""Authorization requests: validation, a person's consent, and a code that is valid for 60 seconds."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.auth.credential_owners import Person
from backend.auth.freshness import is_fresh
from backend.auth.oauth_models import OAuthCodeRow, OAuthConsentRow
from backend.auth.secrets import digest, token
from backend.core.changes import publish_change
from backend.core.db import Write, new_id, now, widen
from backend.core.errors import BadRequest
from backend.core.settings import settings
from backend.oauth import rules
from backend.oauth.clients import Client, find
from backend.oauth.errors import Refused, with_query
from backend.oauth.schemas import AuthorizationQuery, Consent, ConsentScope

CODE_LIFETIME = timedelta(seconds=60)
FRESH_SECONDS = 60
"""Seconds within which a sign-in counts as the one that the request itself required."""
PROMPTS = {"none", "login", "consent", "select_account"}


@dataclass(frozen=True)
class Ask:
    """A valid request of a known application with a registered address."""

    client: Client
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str | None
    nonce: str | None
    challenge: str
    prompts: frozenset[str]
    max_age: int | None

    def answer(self, **parameters: str | None) -> str:
        """Return the application's address with a response (`iss`: RFC 9207)."""
        return with_query(self.redirect_uri, **parameters, state=self.state, iss=settings().base_url)


async def check(session: Write, query: AuthorizationQuery, doubles: bool = False) -> Ask:
    """Validate the request.

    400 where its application or address is invalid, because no browser may be redirected there; other errors are
    reported to the application (`Refused`).
    """
    client = await find(session, query.client_id)
    if client is None:
        raise BadRequest("No application has this client_id.")
    if query.redirect_uri is None or not rules.is_registered(query.redirect_uri, client.redirect_uris):
        raise BadRequest(
            "The redirect_uri is not registered for this application. It must match exactly; only a port of "
            "127.0.0.1, [::1] or localhost may differ."
        )
    if fault := _fault(query, doubles):
        raise Refused(_refusal(query, *fault))
    scopes = rules.known_scopes(query.scope)
    if not scopes or not set(scopes) <= set(client.scopes):
        raise Refused(_refusal(query, "invalid_scope", "The scope is missing, or the application may not request it."))
    return Ask(
        client=client,
        redirect_uri=query.redirect_uri,
        scopes=tuple(scopes),
        state=query.state,
        nonce=query.nonce,
        challenge=query.code_challenge or "",
        prompts=frozenset((query.prompt or "").split()),
        max_age=int(query.max_age) if query.max_age else None,
    )


def _refusal(query: AuthorizationQuery, error: str, description: str) -> str:
    return with_query(
        query.redirect_uri or "", error=error, error_description=description, state=query.state, iss=settings().base_url
    )


def _fault(query: AuthorizationQuery, doubles: bool) -> tuple[str, str] | None:
    """Return the error of a known application's request; None where it is valid."""
    prompts = (query.prompt or "").split()
    odd_age = query.max_age is not None and not (query.max_age.isascii() and query.max_age.isdigit())
    odd_mode = query.response_mode not in (None, "query")
    nul = any("\0" in text for text in (query.nonce, query.state, query.scope) if text)
    odd_prompt = not set(prompts) <= PROMPTS or ("none" in prompts and len(prompts) > 1)
    if query.request is not None:
        return "request_not_supported", "Request objects are not supported."
    if query.request_uri is not None:
        return "request_uri_not_supported", "Request objects are not supported."
    if query.response_type is None or doubles or nul or odd_age or odd_mode or odd_prompt:
        return "invalid_request", "A parameter is missing, repeated or invalid."
    if query.response_type != "code":
        return "unsupported_response_type", "Only response_type=code is supported."
    if query.code_challenge_method != "S256" or not rules.is_challenge(query.code_challenge):
        return "invalid_request", "PKCE is required: send code_challenge with code_challenge_method=S256."
    return None


async def next_step(session: Write, ask: Ask, query: AuthorizationQuery, person: Person | None) -> str:
    """Return where the browser goes: to sign-in, to the consent page, or back to the application with a code."""
    silent = "none" in ask.prompts
    if person is None or not _is_fresh(ask, person):
        return ask.answer(error="login_required") if silent else _sign_in(query, ask)
    if "consent" in ask.prompts or not await has_agreed(session, ask, person):
        if silent:
            return ask.answer(error="consent_required")
        return sign_in_path(query) if _lacks_proof(ask, person) else f"/oauth/consent?{_query(query)}"
    return await grant(session, ask, person)


def _is_fresh(ask: Ask, person: Person) -> bool:
    age = (now() - person.signed_in_at).total_seconds()
    if ask.prompts & {"login", "select_account"}:
        return False
    return ask.max_age is None or age <= ask.max_age


def _lacks_proof(ask: Ask, person: Person) -> bool:
    """Return whether the application would get a write scope from a person without a proof from the last 5 minutes.

    The application's own calls never require one.
    """
    return _writes(ask) and not is_fresh(person.confirmed_at, now())


def _writes(ask: Ask) -> bool:
    return any(scope.endswith(":write") for scope in ask.scopes)


async def decide(session: Write, query: AuthorizationQuery, person: Person, *, approve: bool) -> str:
    """Return where the browser goes after a person's decision: to the application, with a code or an error.

    400 as in `check`; 403 for a consent that needs a fresh factor or proof.
    """
    try:
        ask = await check(session, query)
    except Refused as refused:
        return refused.location
    if not approve:
        return ask.answer(error="access_denied")
    if _writes(ask):
        person.require_confirmed()
    await agree(session, ask, person.user_id)
    return await grant(session, ask, person)


def _sign_in(query: AuthorizationQuery, ask: Ask) -> str:
    """Return the sign-in page, which leads back to this request; a recent sign-in then meets its conditions."""
    again = query
    if ask.prompts & {"login", "select_account"} or ask.max_age is not None:
        left = " ".join(sorted(ask.prompts - {"login", "select_account"})) or None
        age = str(max(ask.max_age or 0, FRESH_SECONDS))
        again = query.model_copy(update={"prompt": left, "max_age": age})
    return sign_in_path(again)


def sign_in_path(query: AuthorizationQuery) -> str:
    """Return the sign-in page, which leads back to a request."""
    return "/sign-in?" + urlencode({"next": f"/v1/oauth/authorize?{_query(query)}"})


def _query(query: AuthorizationQuery) -> str:
    return urlencode(query.model_dump(exclude_none=True))


async def has_agreed(session: Write, ask: Ask, person: Person) -> bool:
    """Return whether the person has already granted the application all of these scopes.

    Only an https address identifies the application: any program can listen on this machine or register a scheme (RFC
    8252 8.6), so such addresses always require consent.
    """
    if not ask.redirect_uri.startswith("https://"):
        return False
    agreed = await session.scalar(
        sa.select(col(OAuthConsentRow.scopes)).where(
            col(OAuthConsentRow.user_id) == person.user_id, col(OAuthConsentRow.client_id) == ask.client.id
        )
    )
    return set(ask.scopes) <= set(agreed or [])


async def agree(session: Write, ask: Ask, user_id: UUID) -> None:
    """Store a person's consent to an application, in addition to earlier ones."""
    query = sa.select(OAuthConsentRow).where(
        col(OAuthConsentRow.user_id) == user_id, col(OAuthConsentRow.client_id) == ask.client.id
    )
    await session.execute(
        insert(OAuthConsentRow)
        .values(id=new_id(), created_at=now(), updated_at=now(), user_id=user_id, client_id=ask.client.id, scopes=[])
        .on_conflict_do_nothing()
    )
    row: OAuthConsentRow = (await session.execute(query.with_for_update())).scalar_one()
    before, row.scopes = row.scopes, rules.unique([*row.scopes, *ask.scopes])
    was, is_ = ({"user_id": str(user_id), "scopes": scopes} for scopes in (before, row.scopes))
    await widen(session, ask.client.organization_id)
    subject = ("oauth_client", ask.client.id)
    await publish_change(session, ask.client.organization_id, "oauth_client.authorized", subject, was, is_)


async def grant(session: Write, ask: Ask, person: Person) -> str:
    """Return the application's address with a new code."""
    code = token()
    session.add(
        OAuthCodeRow(
            code_hash=digest(code),
            client_id=ask.client.id,
            user_id=person.user_id,
            session_id=person.session_id,
            redirect_uri=ask.redirect_uri,
            scope=" ".join(ask.scopes),
            nonce=ask.nonce,
            code_challenge=ask.challenge,
            signed_in_at=person.signed_in_at,
            expires_at=now() + CODE_LIFETIME,
        )
    )
    await session.flush()
    return ask.answer(code=code)


def shown(ask: Ask) -> Consent:
    """Return the content of the consent page."""
    return Consent(
        client_id=ask.client.id,
        client_name=ask.client.name,
        organization_name=ask.client.organization_name,
        redirect_host=urlsplit(ask.redirect_uri).netloc or urlsplit(ask.redirect_uri).scheme,
        scopes=[ConsentScope(scope=s, description=rules.describe(s)) for s in ask.scopes],
    )
