"""`/v1/oauth/*`, discovery, and `/v1/orgs/{orgId}/oauth-clients`."""

from typing import Annotated, Any
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Query, Request, Response, status
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from backend import db
from backend.auth import tokens
from backend.auth.credentials import by_cookie, check_origin, client_address, cookie_name
from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, form, public, requires
from backend.auth.scopes import IdentityScope, Scope
from backend.changes import Who, acting
from backend.errors import BadRequest, FreshFactorNeeded, FreshProofNeeded
from backend.keyset import Page
from backend.oauth import authorizing, claims, connected, discovery, granting, inspecting, service
from backend.oauth.clients import authenticate, check_address
from backend.oauth.faults import NO_STORE, OAuthFault, OAuthRoute, Refused
from backend.oauth.leaving import leaving
from backend.oauth.schemas import (
    AuthorizationQuery,
    ConnectedApplicationList,
    Consent,
    Decided,
    Decision,
    Introspection,
    KeySet,
    OAuthClientCreate,
    OAuthClientCreated,
    OAuthClientList,
    OAuthProblem,
    TokenAnswer,
    TokenForm,
    TokenReference,
    UserInfo,
)

router = APIRouter(tags=["OpenID Connect"], route_class=GuardedRoute)
CLIENT: list[dict[str, list[str]]] = [{"client": []}, {}]
protocol = APIRouter(
    prefix="/oauth",
    route_class=OAuthRoute,
    responses={400: {"model": OAuthProblem}, 401: {"model": OAuthProblem}},
)
beside = APIRouter(include_in_schema=False)
"""At the origin, outside of `/v1`: the consent page's native form, and discovery where people look for it."""
OF_ORGANIZATION = "/orgs/{orgId}/oauth-clients"
CACHED = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
Asked = Annotated[AuthorizationQuery, Query()]


@protocol.post("/token", response_model_exclude_none=True, openapi_extra={"security": CLIENT}, responses={403: {}})
@form
@public
async def token(context: Current, request: Request, body: Annotated[TokenForm, Form()]) -> TokenAnswer:
    """Exchange a code (with its PKCE verifier), a refresh token (once), or an API key for an access token.

    Clients authenticate by HTTP Basic or by `client_id` and `client_secret` in the form; public ones send `client_id`
    alone. For `client_credentials` the id is that of an API key or of its organization, and the key is the secret.
    """
    return await granting.exchange(context, request, body)


@protocol.post("/revoke", openapi_extra={"security": CLIENT})
@form
@public
async def revoke(context: Current, request: Request, body: Annotated[TokenReference, Form()]) -> dict[str, Any]:
    """End what a token was given for: its refresh token and its access tokens stop at once."""
    caller = await authenticate(context.session, request, body)
    await inspecting.revoke(context.session, caller, _token(body))
    return {}


@protocol.post("/introspect", response_model_exclude_none=True, openapi_extra={"security": CLIENT}, responses={403: {}})
@form
@public
async def introspect(context: Current, request: Request, body: Annotated[TokenReference, Form()]) -> Introspection:
    """Whether a token is good now, and for what. Only for the client it was issued to, and the organization's keys."""
    caller = await authenticate(context.session, request, body)
    await check_address(context, caller)
    return await inspecting.introspect(context.session, caller, _token(body))


def _token(body: TokenReference) -> str:
    if not body.token:
        raise OAuthFault("invalid_request", "token is missing.")
    return body.token


router.include_router(protocol)


@router.get("/oauth/authorize", status_code=status.HTTP_302_FOUND, response_class=RedirectResponse)
@public
async def authorize(context: Current, request: Request, query: Asked) -> Response:
    """Ask a person to sign in and to agree; their browser is sent back with a code that works once, for 60 seconds.

    PKCE (S256) is needed. A wrong `client_id` or `redirect_uri` is a 400; any other error goes to the application.
    """
    cookie = request.cookies.get(cookie_name())
    context.person = await by_cookie(context.session, cookie) if cookie else None
    names = [name for name, _ in request.query_params.multi_items()]
    try:
        ask = await authorizing.check(context.session, query, doubles=len(set(names)) != len(names))
        location = await authorizing.next_step(context.session, ask, query, context.person)
    except Refused as refused:
        location = refused.location
    return RedirectResponse(location, status.HTTP_302_FOUND, NO_STORE | {"Referrer-Policy": "no-referrer"})


@router.get("/oauth/consent")
@requires(organization=ANY_ORGANIZATION, person=True)
async def show_consent(context: Current, query: Asked) -> Consent:
    """What an authorization request asks of the signed-in person, for the consent page."""
    try:
        return authorizing.shown(await authorizing.check(context.session, query))
    except Refused as refused:
        raise BadRequest("The authorization request is not right.") from refused


@router.post("/oauth/consent")
@requires(organization=ANY_ORGANIZATION, browser=True)
async def decide(context: Current, body: Decision, response: Response) -> Decided:
    """Agree, or not. The answer says where the browser goes: to the application, with a code or `access_denied`.

    Only in the browser where the person is signed in: by the session's cookie.
    """
    person = context.require_person(in_browser=True)
    response.headers.update(NO_STORE)
    return Decided(redirect_to=await authorizing.decide(context.session, body, person, approve=body.approve))


@router.get("/oauth/userinfo", response_model_exclude_unset=True)
@requires(organization=ANY_ORGANIZATION, identity=IdentityScope.OPENID)
async def userinfo(context: Current, response: Response) -> UserInfo:
    """Claims about the person of the access token, by its scopes. An API key is a 401, as is a browser's session."""
    response.headers.update(NO_STORE)
    return await claims.of(context)


@router.post("/oauth/userinfo", response_model_exclude_unset=True)
@form
@requires(organization=ANY_ORGANIZATION, identity=IdentityScope.OPENID)
async def post_userinfo(context: Current, response: Response) -> UserInfo:
    """The same by POST (OIDC Core 5.3.1); the token comes in the Authorization header."""
    response.headers.update(NO_STORE)
    return await claims.of(context)


@router.get("/oauth/jwks")
@public
async def jwks(context: Current, response: Response) -> KeySet:
    """The keys that verify our tokens: the one that signs, and for an hour the one it has replaced."""
    response.headers.update(CACHED)
    return KeySet(keys=tokens.published())


@router.get("/.well-known/openid-configuration")
@public
async def configuration(context: Current, response: Response) -> dict[str, Any]:
    """OpenID Connect discovery."""
    response.headers.update(CACHED)
    return discovery.document()


@beside.post("/oauth/decide")
async def decide_by_form(
    request: Request,
    query: Annotated[str, Form(max_length=8_000)] = "",
    decision: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """The consent page's form: a person agrees, or not, and leaves the page."""
    check_origin(request)
    try:
        asked = AuthorizationQuery.model_validate(dict(parse_qsl(query)))
    except ValidationError as error:
        raise BadRequest("The authorization request is not right.") from error
    async with db.transaction() as session:
        person = await by_cookie(session, request.cookies.get(cookie_name(), ""))
        if person is None:
            return RedirectResponse(authorizing.sign_in_path(asked), status.HTTP_303_SEE_OTHER, NO_STORE)
        with acting(Who(person.user_id, "session", request.state.request_id, client_address(request))):
            try:
                target = await authorizing.decide(session, asked, person, approve=decision == "approve")
            except (FreshFactorNeeded, FreshProofNeeded):
                return RedirectResponse(authorizing.sign_in_path(asked), status.HTTP_303_SEE_OTHER, NO_STORE)
    return leaving(target)


@beside.get("/.well-known/openid-configuration")
@beside.get("/.well-known/oauth-authorization-server")
@beside.get("/.well-known/oauth-authorization-server/v1")
async def origin_configuration(response: Response) -> dict[str, Any]:
    """The same at the origin, where RFC 8414 and people look for it."""
    response.headers.update(CACHED)
    return discovery.document()


@router.get("/auth/applications")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_connected_applications(context: Current, page: Annotated[Page, Depends()]) -> ConnectedApplicationList:
    """Applications that the person has connected: what each may do, since when, and when it was last used."""
    return await connected.page(context, page)


@router.delete("/auth/applications/{clientId}", status_code=status.HTTP_204_NO_CONTENT, responses={404: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def disconnect_application(context: Current, clientId: UUID) -> None:
    """Disconnect an application: the consent, its sessions with all tokens, and the keys it made end at once."""
    await connected.disconnect(context, clientId)


@router.get(OF_ORGANIZATION)
@requires(Scope.API_KEYS_READ)
async def list_clients(context: Current, orgId: UUID, page: Annotated[Page, Depends()]) -> OAuthClientList:
    """Applications, newest first, removed ones too; never their secrets."""
    return await service.page(context, page)


@router.post(OF_ORGANIZATION, status_code=status.HTTP_201_CREATED)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def create_client(
    context: Current, orgId: UUID, body: OAuthClientCreate, response: Response
) -> OAuthClientCreated:
    """Register an application, never wider than the caller. `secret` is shown in this answer only."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.delete(f"{OF_ORGANIZATION}/{{clientId}}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def remove_client(context: Current, orgId: UUID, clientId: UUID) -> None:
    """Remove an application; everything people have given it ends at once."""
    await service.remove(context, clientId)
