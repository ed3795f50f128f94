"""OpenID Connect. Made by `make client` from backend/openapi.json."""

from typing import Any

from backend.client.connection import Connection, Id, path
from backend.client.content import Download, form
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.oauth.schemas import (
    ConnectedApplication,
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
    TokenAnswer,
    TokenForm,
    TokenReference,
    UserInfo,
)


class OpenIDConnectOperations(Connection):
    """OpenID Connect."""

    async def token(self, body: TokenForm) -> TokenAnswer:
        """Exchange a code (with its PKCE verifier), a refresh token (once), or an API key for an access token.

        Clients authenticate by HTTP Basic or by `client_id` and `client_secret` in the form; public ones send
        `client_id` alone. For `client_credentials` the id is that of an API key or of its organization, and the
        key is the secret.
        """
        return await self._send(TokenAnswer, "POST", "/oauth/token", body=form(body))

    async def revoke(self, body: TokenReference, *, idempotency_key: str | None = None) -> dict[str, Any]:
        """End what a token was given for: its refresh token and its access tokens stop at once."""
        return await self._send(dict, "POST", "/oauth/revoke", body=form(body), key=idempotency_key or new_key())

    async def introspect(self, body: TokenReference, *, idempotency_key: str | None = None) -> Introspection:
        """Whether a token is good now, and for what. Only for the client it was issued to, and the organization's
        keys.
        """
        return await self._send(
            Introspection, "POST", "/oauth/introspect", body=form(body), key=idempotency_key or new_key()
        )

    async def authorize(
        self,
        *,
        client_id: str | None = None,
        redirect_uri: str | None = None,
        response_type: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        nonce: str | None = None,
        code_challenge: str | None = None,
        code_challenge_method: str | None = None,
        prompt: str | None = None,
        max_age: str | None = None,
        response_mode: str | None = None,
        request: str | None = None,
        request_uri: str | None = None,
    ) -> str:
        """Ask a person to sign in and to agree; their browser is sent back with a code that works once, for 60
        seconds.

        PKCE (S256) is needed. A wrong `client_id` or `redirect_uri` is a 400; any other error goes to the
        application.
        """
        return await self._where(
            "GET",
            "/oauth/authorize",
            query={
                "client_id": client_id,
                "redirect_uri": redirect_uri,
                "response_type": response_type,
                "scope": scope,
                "state": state,
                "nonce": nonce,
                "code_challenge": code_challenge,
                "code_challenge_method": code_challenge_method,
                "prompt": prompt,
                "max_age": max_age,
                "response_mode": response_mode,
                "request": request,
                "request_uri": request_uri,
            },
        )

    async def show_consent(
        self,
        *,
        client_id: str | None = None,
        redirect_uri: str | None = None,
        response_type: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        nonce: str | None = None,
        code_challenge: str | None = None,
        code_challenge_method: str | None = None,
        prompt: str | None = None,
        max_age: str | None = None,
        response_mode: str | None = None,
        request: str | None = None,
        request_uri: str | None = None,
    ) -> Consent:
        """What an authorization request asks of the signed-in person, for the consent page."""
        return await self._send(
            Consent,
            "GET",
            "/oauth/consent",
            query={
                "client_id": client_id,
                "redirect_uri": redirect_uri,
                "response_type": response_type,
                "scope": scope,
                "state": state,
                "nonce": nonce,
                "code_challenge": code_challenge,
                "code_challenge_method": code_challenge_method,
                "prompt": prompt,
                "max_age": max_age,
                "response_mode": response_mode,
                "request": request,
                "request_uri": request_uri,
            },
        )

    async def decide(self, body: Decision, *, idempotency_key: str | None = None) -> Decided:
        """Agree, or not. The answer says where the browser goes: to the application, with a code or
        `access_denied`.

        Only in the browser where the person is signed in: by the session's cookie.
        """
        return await self._send(Decided, "POST", "/oauth/consent", body=body, key=idempotency_key or new_key())

    async def userinfo(self) -> UserInfo:
        """Claims about the person of the access token, by its scopes. An API key is a 401, as is a browser's
        session.

        Scope: `openid`.
        """
        return await self._send(UserInfo, "GET", "/oauth/userinfo")

    async def post_userinfo(self, *, idempotency_key: str | None = None) -> UserInfo:
        """The same by POST (OIDC Core 5.3.1); the token comes in the Authorization header.

        Scope: `openid`.
        """
        return await self._send(UserInfo, "POST", "/oauth/userinfo", key=idempotency_key or new_key())

    async def jwks(self) -> KeySet:
        """The keys that verify our tokens: the one that signs, and for an hour the one it has replaced."""
        return await self._send(KeySet, "GET", "/oauth/jwks")

    async def configuration(self) -> dict[str, Any]:
        """OpenID Connect discovery."""
        return await self._send(dict, "GET", "/.well-known/openid-configuration")

    def list_connected_applications(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[ConnectedApplicationList, ConnectedApplication]:
        """Applications that the person has connected: what each may do, since when, and when it was last used."""
        return self._pages(
            ConnectedApplicationList, "applications", "/auth/applications", {"limit": limit, "cursor": cursor}
        )

    async def disconnect_application(self, client_id: Id) -> None:
        """Disconnect an application: the consent, its sessions with all tokens, and the keys it made end at once."""
        await self._do("DELETE", path("/auth/applications/{}", client_id))

    def list_clients(
        self, org_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[OAuthClientList, OAuthClient]:
        """Applications, newest first, removed ones too; never their secrets.

        Scope: `api-keys:read`.
        """
        return self._pages(
            OAuthClientList, "oauth_clients", path("/orgs/{}/oauth-clients", org_id), {"limit": limit, "cursor": cursor}
        )

    async def create_client(
        self, org_id: Id, body: OAuthClientCreate, *, idempotency_key: str | None = None
    ) -> OAuthClientCreated:
        """Register an application, never wider than the caller. `secret` is shown in this answer only.

        Scope: `api-keys:write`.
        """
        return await self._send(
            OAuthClientCreated,
            "POST",
            path("/orgs/{}/oauth-clients", org_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    async def remove_client(self, org_id: Id, client_id: Id) -> None:
        """Remove an application; everything people have given it ends at once.

        Scope: `api-keys:write`.
        """
        await self._do("DELETE", path("/orgs/{}/oauth-clients/{}", org_id, client_id))

    def list_connected_applications_csv(self) -> Download:
        """`/auth/applications` as CSV: every record that its filters leave, in one stream."""
        return self._download("/auth/applications.csv")

    def list_clients_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/oauth-clients` as CSV: every record that its filters leave, in one stream.

        Scope: `api-keys:read`.
        """
        return self._download(path("/orgs/{}/oauth-clients.csv", org_id))
