"""Sign-in as it crosses the door."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from backend.fields import Body, Network
from backend.members.schemas import Role

Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Login(Body):
    """Email and password; `org_id` chooses the token's default organization."""

    email: Annotated[str, StringConstraints(max_length=320)]
    password: Password
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


class Me(BaseModel):
    """Who the credential belongs to, and where that person has a role."""

    user: User
    organizations: list[Reach]
    org_id: UUID | None = Field(description="The session's default organization.")
