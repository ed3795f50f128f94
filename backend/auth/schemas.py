"""Sign-in as it crosses the door."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.factors.schemas import Code, WalletProof
from backend.fields import Body, Email, Network, Record, Timestamp
from backend.members.schemas import Role

Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Login(Body):
    """Email and password; `code` where the account has a second factor; `org_id` chooses the token's default
    organization."""

    email: Annotated[str, StringConstraints(max_length=320)]
    password: Password
    code: Code | None = None
    org_id: UUID | None = None


class Refresh(Body):
    """A refresh token; it can be used once."""

    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=256)]


class User(BaseModel):
    """The signed-in person."""

    id: UUID
    email: str
    display_name: str


class Reach(BaseModel):
    """An organization the person's role is in, or begins at; roles reach down to everything below it."""

    id: UUID
    name: str
    role: Role
    parent_id: UUID | None
    depth: int
    network: Network


class Tokens(BaseModel):
    """What a sign-in answers."""

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  (a kind of token, not one)
    expires_in: int
    refresh_token: str
    scope: str
    user: User
    organizations: list[Reach]


class PasswordForgot(Body):
    """Whose password is forgotten."""

    email: Email


class PasswordReset(Body):
    """The token of the mail, and the new password (10 characters or more)."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    password: Password


class PasswordChange(Body):
    """The password as it is, and as it shall be (10 characters or more)."""

    current_password: Password
    new_password: Password


class SiweNonce(BaseModel):
    """What a sign-in message must say (EIP-4361): this nonce, domain and URI, and one of these chains."""

    nonce: str
    domain: str
    uri: str
    version: str = "1"
    chain_ids: list[int]
    expires_at: Timestamp


class SiweVerify(WalletProof):
    """A message that a wallet has signed. `link` needs `password` or `wallet` too, where the person has no second
    factor: the password, or in an account without one a message that a wallet of the account has signed."""

    code: Code | None = None
    link: Annotated[bool, Field(description="Make the wallet the signed-in person's; needs their credential.")] = False
    password: Annotated[str, StringConstraints(max_length=256)] | None = None
    wallet: WalletProof | None = None


class LinkedWallet(Record):
    """A wallet that signs the person in."""

    id: UUID
    address: str
    created_at: Timestamp = Field(description="When it was linked.")
    updated_at: Timestamp


class LinkedWalletList(BaseModel):
    """The wallets that sign the person in, at most 20, the oldest first."""

    wallets: list[LinkedWallet]


class Session(Record):
    """A sign-in that is alive: a `browser`, a `token` of a program, or an `application` in the person's name."""

    id: UUID
    kind: str
    client_name: str | None
    scope: str | None
    user_agent: str | None
    address: str | None
    current: bool = Field(description="It is the one that asks.")
    signed_in_at: Timestamp
    last_used_at: Timestamp
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class SessionList(BaseModel):
    """A page of sessions."""

    sessions: list[Session]
    nextCursor: str | None


class Me(BaseModel):
    """Who the credential belongs to, and where that person has a role."""

    user: User
    organizations: list[Reach]
    org_id: UUID | None = Field(description="The session's default organization.")
    has_second_factor: bool
    should_add_second_factor: bool = Field(
        description="The person has none, and a role that may write or approve somewhere."
    )
    ip_address: str | None = Field(
        description="The address of this request as allowed IP ranges compare it; null where Signum cannot see it."
    )
