"""API schemas of identity parties: the people and companies of an organization."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import EmailStr, Field

from backend.core.fields import (
    Address,
    Body,
    Changes,
    Country,
    Flag,
    Id,
    KycLevel,
    Name,
    Reason,
    Record,
    Timestamp,
    never_null,
)
from backend.lists.schemas import RecordPage


class PartyKind(StrEnum):
    """Kind of a party."""

    PERSON = "person"
    COMPANY = "company"


class PartyStatus(StrEnum):
    """`created → verifying → verified, rejected`."""

    CREATED = "created"
    VERIFYING = "verifying"
    VERIFIED = "verified"
    REJECTED = "rejected"


class DocumentKind(StrEnum):
    """Kind of a document."""

    PASSPORT = "passport"
    ID_CARD = "id_card"
    PROOF_OF_ADDRESS = "proof_of_address"
    COMPANY_REGISTER = "company_register"
    SOURCE_OF_FUNDS = "source_of_funds"
    OTHER = "other"


class PartyCreate(Body):
    """A new party; `organization_id` names its organization, by default the session's own."""

    organization_id: Id | None = None
    kind: PartyKind = PartyKind.PERSON
    name: Name
    email: EmailStr | None = None
    country: Country
    wallet_address: Address | None = None


class PartyUpdate(Changes):
    """JSON merge patch of a party: contact and wallet."""

    name: Annotated[Name | None, Field(json_schema_extra=never_null)] = None
    email: EmailStr | None = None
    wallet_address: Address | None = None


class PartyVerify(Body):
    """A compliance officer's decision to verify the identity."""

    kyc_level: KycLevel = Field(1, ge=1)
    accredited: Flag = False
    reason: Reason | None = None


class PartyReject(Body):
    """A compliance officer's decision to reject the identity."""

    reason: Reason


class Party(Record):
    """A party record."""

    id: UUID
    organization_id: UUID
    kind: PartyKind
    name: str
    email: str | None
    country: str
    wallet_address: str | None
    status: PartyStatus
    kyc_level: int
    accredited: bool
    reviewed_by: UUID | None
    reviewed_at: Timestamp | None
    reason: str | None
    created_at: Timestamp
    updated_at: Timestamp


class PartyList(RecordPage):
    """A page of parties."""

    parties: list[Party]
    nextCursor: str | None


class Document(Record):
    """A document of a party. `size` is in bytes, `sha256` the hexadecimal hash of its content."""

    id: UUID
    organization_id: UUID
    party_id: UUID
    kind: DocumentKind
    name: str
    media_type: str
    size: int
    sha256: str
    uploaded_by: UUID | None
    uploaded_by_name: str | None
    created_at: Timestamp
    updated_at: Timestamp


class DocumentList(RecordPage):
    """A page of a party's documents."""

    documents: list[Document]
    nextCursor: str | None
