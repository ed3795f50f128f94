"""API schemas of identity parties: the people and companies of an organization."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, EmailStr, Field

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


class PartyVerification(PartyVerify):
    """A decision about one of many parties. `expected_status`: 409 if the party has another status by now."""

    party_id: Id
    expected_status: PartyStatus | None = None


class PartyBatch(Body):
    """Decisions to verify identities. A refused item does not stop the others."""

    organization_id: Id | None = None
    items: list[PartyVerification] = Field(min_length=1, max_length=200)


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


class PartyRead(Party):
    """A party, with the name of the person who last decided about it."""

    reviewed_by_name: str | None = None


class PartyBatchResult(BaseModel):
    """The result of an item, in the order of the items: the verified party, or its problem."""

    party_id: UUID
    party: Party | None = None
    problem: dict[str, Any] | None = None


class PartyBatchVerified(BaseModel):
    """Response to a batch: counts of its items, and their results."""

    verified: int
    refused: int
    results: list[PartyBatchResult]


class OnDuplicate(StrEnum):
    """What an import does with a line whose wallet or email a party of the organization already has. `update` changes
    the name, email and wallet of that party to the values of the line."""

    REFUSE = "refuse"
    SKIP = "skip"
    UPDATE = "update"


class ImportOutcome(StrEnum):
    """What an import does with a line."""

    CREATED = "created"
    UPDATED = "updated"
    SKIPPED = "skipped"
    REFUSED = "refused"


class ImportChange(BaseModel):
    """A value of a registered party that an import changes."""

    field: str
    before: str | None
    after: str


class ImportLine(Record):
    """A line of an import: its number in the file, the party, what happens to it, and why. Values that cannot be read
    are null. `party_id` is the party that it updates, with its `changes`."""

    line: int
    name: str
    country: str | None
    email: str | None
    wallet_address: str | None
    outcome: ImportOutcome
    detail: str | None
    party_id: UUID | None = None
    changes: list[ImportChange] = []


class PartyImported(BaseModel):
    """Response to an import: how many lines became parties, updated one, and were skipped. `refused` is 0: one refused
    line refuses the whole list."""

    created: int
    updated: int
    skipped: int
    refused: int


class PartyImportPlan(PartyImported):
    """Response to `?dry_run=true`: counts of all lines, and up to 200 of them, refused ones first; fewer if they are
    very long."""

    lines: list[ImportLine]


class PartyList(RecordPage):
    """A page of parties."""

    parties: list[Party]
    nextCursor: str | None


class Document(Record):
    """A document of a party. `size` is in bytes, `sha256` the hexadecimal hash of its content. `is_from_investor`: the
    party itself uploaded it, signed in as an investor; otherwise staff did."""

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
    is_from_investor: bool
    created_at: Timestamp
    updated_at: Timestamp


class DocumentList(RecordPage):
    """A page of a party's documents."""

    documents: list[Document]
    nextCursor: str | None
