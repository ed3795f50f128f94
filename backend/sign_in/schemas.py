"""Request and response bodies of sign-in."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.auth.scopes import Scope
from backend.core.fields import Body, Email, Id, Network, Record, Timestamp
from backend.factors.schemas import Code, WalletProof
from backend.lists.schemas import RecordPage
from backend.users.schemas import Role

EMAIL_COOKIE = "signum_sign_in_email"
"""The cookie with the email of a failed sign-in, percent-encoded; with https its name begins with `__Host-`."""
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Login(Body):
    """Email and password. `code`: for an account with a second factor. `org_id`: the token's default organization."""

    email: Annotated[str, StringConstraints(max_length=320)]
    password: Password
    code: Code | None = None
    org_id: Id | None = None


class Refresh(Body):
    """A refresh token. It works once."""

    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=256)]


class User(BaseModel):
    """The signed-in person. `email` is null for a person who only signs in with a wallet."""

    id: UUID
    email: str | None
    display_name: str


class Reach(BaseModel):
    """An organization in which the person has a role. The role also applies to all organizations below it."""

    id: UUID
    name: str
    role: Role
    scopes: list[Scope] = Field(description="Scopes of the role.")
    parent_id: UUID | None
    depth: int
    network: Network


class Tokens(BaseModel):
    """Response to a sign-in."""

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  (a token type, not a token)
    expires_in: int
    refresh_token: str
    scope: str
    user: User
    organizations: list[Reach]


class PasswordForgot(Body):
    """The account whose password is to be reset."""

    email: Email


class PasswordLink(Body):
    """The token from the email."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=256)]


class PasswordReset(PasswordLink):
    """The token from the email, and the new password (10 characters or more)."""

    password: Password


class PasswordChange(Body):
    """The current and the new password (10 characters or more)."""

    current_password: Password
    new_password: Password


class SiweNonce(BaseModel):
    """Required fields of a sign-in message (EIP-4361): this nonce, domain and URI, and one of these chains."""

    nonce: str
    domain: str
    uri: str
    version: str = "1"
    chain_ids: list[int]
    expires_at: Timestamp


class SiweVerify(WalletProof):
    """A message that a wallet has signed.

    Without a second factor, `link` also needs `password`, or in an account without a password a message signed by one
    of its wallets (`wallet`).
    """

    code: Code | None = None
    link: Annotated[bool, Field(description="Link the wallet to the signed-in person; needs their credential.")] = False
    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class LinkedWallet(Record):
    """A wallet with which the person can sign in."""

    id: UUID
    address: str
    created_at: Timestamp = Field(description="When it was linked.")
    updated_at: Timestamp


class LinkedWalletList(BaseModel):
    """The wallets with which the person can sign in, at most 20, the oldest first."""

    wallets: list[LinkedWallet]


class Session(Record):
    """An active session: a `browser`, a `token` of a program, or an `application` that acts for the person."""

    id: UUID
    kind: str
    client_name: str | None
    scope: str | None
    user_agent: str | None
    address: str | None
    current: bool = Field(description="Whether this request uses it.")
    signed_in_at: Timestamp
    last_used_at: Timestamp
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class SessionList(RecordPage):
    """A page of sessions."""

    sessions: list[Session]
    nextCursor: str | None


class Me(BaseModel):
    """The person of the credential, and their roles."""

    user: User
    organizations: list[Reach]
    org_id: UUID | None = Field(description="The session's default organization.")
    has_second_factor: bool
    should_add_second_factor: bool = Field(
        description="The person has no second factor, and has a role that may write or approve."
    )
    ip_address: str | None = Field(
        description="The client address of this request, as allowed IP ranges compare it; null where it is unknown."
    )
