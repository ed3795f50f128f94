"""`/v1/oauth/*`, discovery, and `/v1/orgs/{orgId}/oauth-clients`."""

from typing import Annotated, Any
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Query, Request, Response, status
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from backend.auth import tokens
from backend.auth.credentials import by_cookie, check_origin, client_address, cookie_name
from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, form, public, requires
from backend.auth.scopes import IdentityScope, Scope
from backend.core import db
from backend.core.changes import Who, acting
from backend.core.errors import BadRequest, FreshFactorNeeded, FreshProofNeeded
from backend.lists.pages import Page
from backend.oauth import authorization, claims, connections, discovery, introspection, service, token_endpoint
from backend.oauth.clients import authenticate, check_address
from backend.oauth.errors import NO_STORE, OAuthFault, OAuthRoute, Refused
from backend.oauth.redirect_page import leaving
from backend.oauth.schemas import (
    AuthorizationQuery,
    ConnectedApplicationList,
    Consent,
    Decided,
    Decision,
    Introspection,
    KeySet,
    OAuthClient,
    OAuthClientCreate,
    OAuthClientCreated,
    OAuthClientList,
    OAuthProblem,
    TokenAnswer,
    TokenForm,
    TokenReference,
    UserInfo,
)

# Declared at import.
router = APIRouter(tags=["OpenID Connect"], route_class=GuardedRoute)
CLIENT: list[dict[str, list[str]]] = [{"client": []}, {}]
# Declared at import.
protocol = APIRouter(
    prefix="/oauth",
    route_class=OAuthRoute,
    responses={400: {"model": OAuthProblem}, 401: {"model": OAuthProblem}},
)
# Declared at import.
beside = APIRouter(include_in_schema=False)
"""Routes at the origin, outside `/v1`: the consent page's native form, and discovery at its standard addresses."""
OF_ORGANIZATION = "/orgs/{orgId}/oauth-clients"
CACHED = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
Asked = Annotated[AuthorizationQuery, Query()]


@protocol.post("/token", response_model_exclude_none=True, openapi_extra={"security": CLIENT}, responses={403: {}})
@form
@public
async def token(context: Current, request: Request, body: Annotated[TokenForm, Form()]) -> TokenAnswer:
    """Exchange a code (with its PKCE verifier), a refresh token (once), or an API key for an access token.

    Clients authenticate with HTTP Basic or with `client_id` and `client_secret` in the form; public ones send only
    `client_id`. For `client_credentials`, the ID is that of an API key or of its organization, and the key is the
    secret.
    """
    return await token_endpoint.exchange(context, request, body)


@protocol.post("/revoke", openapi_extra={"security": CLIENT})
@form
@public
async def revoke(context: Current, request: Request, body: Annotated[TokenReference, Form()]) -> dict[str, Any]:
    """Revoke the grant of a token. Its refresh token and its access tokens stop working immediately."""
    caller = await authenticate(context.session, request, body)
    await introspection.revoke(context.session, caller, _token(body))
    return {}


@protocol.post("/introspect", response_model_exclude_none=True, openapi_extra={"security": CLIENT}, responses={403: {}})
@form
@public
async def introspect(context: Current, request: Request, body: Annotated[TokenReference, Form()]) -> Introspection:
    """Get the state and the scopes of a token. Only for the client it was issued to, and the organization's keys."""
    caller = await authenticate(context.session, request, body)
    await check_address(context, caller)
    return await introspection.introspect(context.session, caller, _token(body))


def _token(body: TokenReference) -> str:
    if not body.token:
        raise OAuthFault("invalid_request", "token is missing.")
    return body.token


router.include_router(protocol)


@router.get("/oauth/authorize", status_code=status.HTTP_302_FOUND, response_class=RedirectResponse)
@public
async def authorize(context: Current, request: Request, query: Asked) -> Response:
    """Start an authorization: a person signs in and consents; the browser returns with a code, valid once for 60
    seconds.

    PKCE (S256) is required. A wrong `client_id` or `redirect_uri` is a 400; any other error goes to the application.
    """
    cookie = request.cookies.get(cookie_name())
    context.person = await by_cookie(context.session, cookie) if cookie else None
    names = [name for name, _ in request.query_params.multi_items()]
    try:
        ask = await authorization.check(context.session, query, doubles=len(set(names)) != len(names))
        location = await authorization.next_step(context.session, ask, query, context.person)
    except Refused as refused:
        location = refused.location
    return RedirectResponse(location, status.HTTP_302_FOUND, NO_STORE | {"Referrer-Policy": "no-referrer"})


@router.get("/oauth/consent")
@requires(organization=ANY_ORGANIZATION, person=True)
async def show_consent(context: Current, query: Asked) -> Consent:
    """Get the content of the consent page for an authorization request."""
    try:
        return authorization.shown(await authorization.check(context.session, query))
    except Refused as refused:
        raise BadRequest("The authorization request is invalid.") from refused


@router.post("/oauth/consent")
@requires(organization=ANY_ORGANIZATION, browser=True)
async def decide(context: Current, body: Decision, response: Response) -> Decided:
    """Consent or refuse. The response says where the browser goes: to the application, with a code or `access_denied`.

    Only with the session cookie of the signed-in person's browser.
    """
    person = context.require_person(in_browser=True)
    response.headers.update(NO_STORE)
    return Decided(redirect_to=await authorization.decide(context.session, body, person, approve=body.approve))


@router.get("/oauth/userinfo", response_model_exclude_unset=True)
@requires(organization=ANY_ORGANIZATION, identity=IdentityScope.OPENID)
async def userinfo(context: Current, response: Response) -> UserInfo:
    """Get claims about the access token's person, limited by its scopes. API keys and browser sessions get a 401."""
    response.headers.update(NO_STORE)
    return await claims.of(context)


@router.post("/oauth/userinfo", response_model_exclude_unset=True)
@form
@requires(organization=ANY_ORGANIZATION, identity=IdentityScope.OPENID)
async def post_userinfo(context: Current, response: Response) -> UserInfo:
    """Get the claims by POST (OIDC Core 5.3.1). The token goes in the Authorization header."""
    response.headers.update(NO_STORE)
    return await claims.of(context)


@router.get("/oauth/jwks")
@public
async def jwks(context: Current, response: Response) -> KeySet:
    """List the keys that verify tokens: the signing key, and for an hour the key it has replaced."""
    response.headers.update(CACHED)
    return KeySet(keys=tokens.published())


@router.get("/.well-known/openid-configuration")
@public
async def configuration(context: Current, response: Response) -> dict[str, Any]:
    """Get the OpenID Connect discovery document."""
    response.headers.update(CACHED)
    return discovery.document()


@beside.post("/oauth/decide")
async def decide_by_form(
    request: Request,
    query: Annotated[str, Form(max_length=8_000)] = "",
    decision: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Handle the consent page's form: the person consents or refuses, and leaves the page."""
    check_origin(request)
    try:
        asked = AuthorizationQuery.model_validate(dict(parse_qsl(query)))
    except ValidationError as error:
        raise BadRequest("The authorization request is invalid.") from error
    async with db.transaction() as session:
        person = await by_cookie(session, request.cookies.get(cookie_name(), ""))
        if person is None:
            return RedirectResponse(authorization.sign_in_path(asked), status.HTTP_303_SEE_OTHER, NO_STORE)
        with acting(Who(person.user_id, "session", request.state.request_id, client_address(request))):
            try:
                target = await authorization.decide(session, asked, person, approve=decision == "approve")
            except (FreshFactorNeeded, FreshProofNeeded):
                return RedirectResponse(authorization.sign_in_path(asked), status.HTTP_303_SEE_OTHER, NO_STORE)
    return leaving(target)


@beside.get("/.well-known/openid-configuration")
@beside.get("/.well-known/oauth-authorization-server")
@beside.get("/.well-known/oauth-authorization-server/v1")
async def origin_configuration(response: Response) -> dict[str, Any]:
    """Return the discovery document at the origin, as RFC 8414 requires."""
    response.headers.update(CACHED)
    return discovery.document()


@router.get("/auth/applications")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_connected_applications(
    context: Current, page: Annotated[Page, Depends(connections.LIST.page)]
) -> ConnectedApplicationList:
    """List the applications that the person has connected, with their permissions and when they were last used."""
    return await connections.page(context, page)


@router.delete("/auth/applications/{clientId}", status_code=status.HTTP_204_NO_CONTENT, responses={404: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def disconnect_application(context: Current, clientId: UUID) -> None:
    """Disconnect an application. The consent, its sessions with all tokens, and the keys it created end immediately."""
    await connections.disconnect(context, clientId)


@router.get(OF_ORGANIZATION, response_model=OAuthClientList)
@requires(Scope.API_KEYS_READ)
async def list_clients(context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.page)]) -> Response:
    """List applications, newest first, including removed ones; never their secrets."""
    return await service.page(context, page)


@router.get(f"{OF_ORGANIZATION}/{{clientId}}")
@requires(Scope.API_KEYS_READ)
async def get_client(context: Current, orgId: UUID, clientId: UUID) -> OAuthClient:
    """Get an application without its secret, also a removed one."""
    return await service.one(context, clientId)


@router.post(OF_ORGANIZATION, status_code=status.HTTP_201_CREATED)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def create_client(
    context: Current, orgId: UUID, body: OAuthClientCreate, response: Response
) -> OAuthClientCreated:
    """Register an application, with at most the caller's scopes. `secret` is shown only in this response."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.delete(f"{OF_ORGANIZATION}/{{clientId}}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def remove_client(context: Current, orgId: UUID, clientId: UUID) -> None:
    """Remove an application. All access that people have granted it ends immediately."""
    await service.remove(context, clientId)
