"""API schemas of API keys."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from backend.auth.scopes import Scope
from backend.core.fields import Body, Moment, Name, Network, Record, Timestamp
from backend.core.ip_ranges import IpRanges
from backend.lists.schemas import RecordPage


class PendingRequests(StrEnum):
    """What happens to requests of a revoked key that have not started."""

    DENY = "deny"
    CONTINUE = "continue"


class ApiKeyCreate(Body):
    """A new key; it has no scope that its creator lacks."""

    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=16)]
    network: Network | None = None
    expires_at: Moment | None = None
    allowed_ip_ranges: IpRanges | None = None


class ApiKey(Record):
    """A key without its secret. `network` is null if the organization's is inherited. `parent_id` is the key that made
    it, `client_id` the application: revoking the key or disconnecting the application revokes this key too.
    `allowed_ip_ranges` are the IP addresses and CIDR ranges it works from; empty allows every address."""

    id: UUID
    organization_id: UUID
    name: str
    scopes: list[Scope]
    network: Network | None
    parent_id: UUID | None = None
    client_id: UUID | None = None
    allowed_ip_ranges: list[str] = Field(default_factory=list)
    prefix: str
    last_four: str
    last_used_at: Timestamp | None
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class ApiKeyCreated(ApiKey):
    """The only response that contains the secret."""

    key: str | None


class ApiKeyList(RecordPage):
    """A page of keys."""

    api_keys: list[ApiKey]
    nextCursor: str | None
