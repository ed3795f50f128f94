"""Sign-in. Made by `make client` from backend/openapi.json."""

from backend.auth.schemas import (
    Login,
    Me,
    PasswordChange,
    PasswordForgot,
    PasswordReset,
    Refresh,
    Session,
    SessionList,
    SiweNonce,
    SiweVerify,
    Tokens,
)
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key


class SignInOperations(Connection):
    """Sign-in."""

    async def login(self, body: Login) -> Tokens:
        """Sign in with email and password."""
        return await self._send(Tokens, "POST", "/auth/login", body=body)

    async def refresh(self, body: Refresh) -> Tokens:
        """Rotate a refresh token; using one twice ends its session."""
        return await self._send(Tokens, "POST", "/auth/refresh", body=body)

    async def logout(self, *, idempotency_key: str | None = None) -> None:
        """End the session of the credential."""
        await self._do("POST", "/auth/logout", key=idempotency_key or new_key())

    async def get_me(self) -> Me:
        """The signed-in person and where they have a role."""
        return await self._send(Me, "GET", "/auth/me")

    async def begin_siwe(self, *, idempotency_key: str | None = None) -> SiweNonce:
        """What a wallet's sign-in message must say (EIP-4361); the nonce works once, for 5 minutes."""
        return await self._send(SiweNonce, "POST", "/auth/siwe/nonce", key=idempotency_key or new_key())

    async def verify_siwe(self, body: SiweVerify) -> Tokens:
        """Sign in with a wallet by a message that it has signed.

        The wallet was linked before (`link`, with the person's credential), or an organization has added its
        owner as a member: that waits under GET /v1/memberships/pending until they agree.
        """
        return await self._send(Tokens, "POST", "/auth/siwe/verify", body=body)

    async def forgot_password(self, body: PasswordForgot, *, idempotency_key: str | None = None) -> None:
        """Ask for a link to choose a new password. The answer is the same, and takes as long, whoever the address
        is.
        """
        await self._do("POST", "/auth/password/forgot", body=body, key=idempotency_key or new_key())

    async def reset_password(self, body: PasswordReset, *, idempotency_key: str | None = None) -> None:
        """Choose a new password with the token of the mail: once, for 30 minutes. Every session of the person ends."""
        await self._do("POST", "/auth/password/reset", body=body, key=idempotency_key or new_key())

    async def change_password(self, body: PasswordChange, *, idempotency_key: str | None = None) -> None:
        """Choose a new password with the old one. Every other session of the person ends."""
        await self._do("POST", "/auth/password/change", body=body, key=idempotency_key or new_key())

    def list_sessions(self, *, limit: int | None = None, cursor: str | None = None) -> Pages[SessionList, Session]:
        """Where the person is signed in, newest first: browsers, programs, and applications in their name."""
        return self._pages(SessionList, "sessions", "/auth/sessions", {"limit": limit, "cursor": cursor})

    async def end_session(self, session_id: Id) -> None:
        """End a session; its cookie and tokens stop at once."""
        await self._do("DELETE", path("/auth/sessions/{}", session_id))

    def list_sessions_csv(self) -> Download:
        """`/auth/sessions` as CSV: every record that its filters leave, in one stream."""
        return self._download("/auth/sessions.csv")
