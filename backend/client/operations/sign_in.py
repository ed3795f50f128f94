"""Sign-in. Made by `make client` from backend/openapi.json."""

from backend.auth.schemas import (
    LinkedWalletList,
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
from backend.factors.schemas import (
    EnrolmentStart,
    FactorAdded,
    FactorList,
    FactorProof,
    FreshFactor,
    PasskeyOptions,
    PasskeyRegistration,
    RecoveryCodes,
    TotpConfirmation,
    TotpEnrolment,
)


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
        owner as a member: that waits under GET /v1/memberships/pending until they agree. To link a wallet, a
        person with a second factor needs a fresh one, and any other person their `password`, or without a
        password a signature of a wallet that they have (`wallet`).
        """
        return await self._send(Tokens, "POST", "/auth/siwe/verify", body=body)

    async def list_linked_wallets(self) -> LinkedWalletList:
        """List the wallets that sign in the signed-in person, the oldest first."""
        return await self._send(LinkedWalletList, "GET", "/auth/wallets")

    async def unlink_wallet(self, wallet_id: Id) -> None:
        """Unlink a wallet: it no longer signs anybody in. A person with a second factor needs a fresh one, and
        anybody else who does this in a browser a fresh proof (POST /v1/auth/factors/verify).

        Every other session of a program of the person ends, because the wallet may have signed it in. 409 where
        the person has no password and no other wallet: they could not sign in any more.
        """
        await self._do("DELETE", path("/auth/wallets/{}", wallet_id))

    async def forgot_password(self, body: PasswordForgot, *, idempotency_key: str | None = None) -> None:
        """Ask for a link to choose a new password. The answer is the same, and takes as long, whoever the address
        is.
        """
        await self._do("POST", "/auth/password/forgot", body=body, key=idempotency_key or new_key())

    async def reset_password(self, body: PasswordReset, *, idempotency_key: str | None = None) -> None:
        """Choose a new password with the token of the mail: once, for 30 minutes. Every session of the person ends.

        Linked wallets still sign the person in. GET /v1/auth/wallets lists them, DELETE
        /v1/auth/wallets/{walletId} unlinks one.
        """
        await self._do("POST", "/auth/password/reset", body=body, key=idempotency_key or new_key())

    async def change_password(self, body: PasswordChange, *, idempotency_key: str | None = None) -> None:
        """Choose a new password with the old one. Every other session of the person ends; linked wallets still sign
        in.
        """
        await self._do("POST", "/auth/password/change", body=body, key=idempotency_key or new_key())

    def list_sessions(self, *, limit: int | None = None, cursor: str | None = None) -> Pages[SessionList, Session]:
        """Where the person is signed in, newest first: browsers, programs, and applications in their name."""
        return self._pages(SessionList, "sessions", "/auth/sessions", {"limit": limit, "cursor": cursor})

    async def sign_out_everywhere(self) -> None:
        """End every session of the person, this one too: browsers, programs, and applications in their name.

        Linked wallets can sign the person in again. GET /v1/auth/wallets lists them.
        """
        await self._do("DELETE", "/auth/sessions")

    async def end_session(self, session_id: Id) -> None:
        """End a session; its cookie and tokens stop at once."""
        await self._do("DELETE", path("/auth/sessions/{}", session_id))

    def list_linked_wallets_csv(self) -> Download:
        """`/auth/wallets` as CSV: every record that its filters leave, in one stream."""
        return self._download("/auth/wallets.csv")

    def list_sessions_csv(self) -> Download:
        """`/auth/sessions` as CSV: every record that its filters leave, in one stream."""
        return self._download("/auth/sessions.csv")

    async def list_factors(self) -> FactorList:
        """List the second factors of the signed-in person."""
        return await self._send(FactorList, "GET", "/auth/factors")

    async def begin_totp(self, body: EnrolmentStart, *, idempotency_key: str | None = None) -> TotpEnrolment:
        """Begin to set up an authenticator app.

        The first factor needs the account's password, or in an account without one a message that a wallet of
        the account has signed (`wallet`). Any other factor needs a fresh one. The app counts once POST
        /v1/auth/factors/totp/confirm has had a code of it, within 15 minutes.
        """
        return await self._send(
            TotpEnrolment, "POST", "/auth/factors/totp", body=body, key=idempotency_key or new_key()
        )

    async def confirm_totp(self, body: TotpConfirmation, *, idempotency_key: str | None = None) -> FactorAdded:
        """Confirm an authenticator app by a code it shows. The fifth wrong code ends the set-up.

        The first factor comes with recovery codes, and ends every other session of the person.
        """
        return await self._send(
            FactorAdded, "POST", "/auth/factors/totp/confirm", body=body, key=idempotency_key or new_key()
        )

    async def begin_passkey(self, body: EnrolmentStart, *, idempotency_key: str | None = None) -> PasskeyOptions:
        """Begin to add a passkey: options for `navigator.credentials.create`.

        The first factor needs the account's password, or in an account without one a message that a wallet of
        the account has signed (`wallet`). Any other factor needs a fresh one.
        """
        return await self._send(
            PasskeyOptions, "POST", "/auth/factors/passkeys/options", body=body, key=idempotency_key or new_key()
        )

    async def add_passkey(self, body: PasskeyRegistration, *, idempotency_key: str | None = None) -> FactorAdded:
        """Add a passkey by the authenticator's answer.

        The first factor comes with recovery codes, and ends every other session of the person.
        """
        return await self._send(
            FactorAdded, "POST", "/auth/factors/passkeys", body=body, key=idempotency_key or new_key()
        )

    async def challenge_factor(self, *, idempotency_key: str | None = None) -> PasskeyOptions:
        """Ask for a passkey: options for `navigator.credentials.get`. 400 where the person has none."""
        return await self._send(PasskeyOptions, "POST", "/auth/factors/challenge", key=idempotency_key or new_key())

    async def verify_factor(self, body: FactorProof, *, idempotency_key: str | None = None) -> FreshFactor:
        """Confirm that it is the person: by a second factor, or without one by password or wallet.

        The proof counts in this session for 5 minutes. Sensitive operations refuse a browser's session without
        one (403). API keys and programs are not asked.

        People with a second factor (rule `fresh_factor`) send a `code` or a passkey's answer (`credential`). A
        code works once. The tenth wrong one ends the session (401). Everybody else (rule `fresh_proof`) sends
        the `password`, or in an account without a password a message that a wallet of the account has signed
        (`wallet`). For them a sign-in counts for 5 minutes too.
        """
        return await self._send(
            FreshFactor, "POST", "/auth/factors/verify", body=body, key=idempotency_key or new_key()
        )

    async def renew_recovery_codes(self, *, idempotency_key: str | None = None) -> RecoveryCodes:
        """Replace the recovery codes. Needs a fresh factor; the codes from before stop working."""
        return await self._send(RecoveryCodes, "POST", "/auth/factors/recovery-codes", key=idempotency_key or new_key())

    async def remove_factor(self, factor_id: Id) -> None:
        """Remove a second factor. Needs a fresh factor."""
        await self._do("DELETE", path("/auth/factors/{}", factor_id))
