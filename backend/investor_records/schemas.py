"""API schemas of an investor's documents, and of everything that is stored about them."""

from uuid import UUID

from pydantic import BaseModel

from backend.attestations.schemas import AttestationStatus
from backend.core.fields import Record, Timestamp
from backend.investors.schemas import InvestorClaim, InvestorOrder, InvestorParty, InvestorTrade
from backend.parties.schemas import DocumentKind
from backend.users.schemas import Role


class InvestorDocument(Record):
    """A document of one of the investor's parties. `is_from_investor`: they uploaded it, and not the organization."""

    id: UUID
    party_id: UUID
    kind: DocumentKind
    name: str
    media_type: str
    size: int
    is_from_investor: bool
    created_at: Timestamp


class InvestorDocuments(BaseModel):
    """The documents of the investor's parties, the newest first; at most 200."""

    documents: list[InvestorDocument]


class DataAccount(Record):
    """The person's account. It belongs to no organization; this one sees the name and the email."""

    id: UUID
    email: str | None
    display_name: str | None
    created_at: Timestamp
    last_login_at: Timestamp | None


class DataMembership(Record):
    """The membership. `entered_`: what the organization entered when it added the person."""

    id: UUID
    role: Role
    created_at: Timestamp
    entered_email: str | None
    entered_name: str | None
    entered_wallet_address: str | None


class DataConsent(BaseModel):
    """Who may see the data, and since when. `agreed_at` as in the membership."""

    seen_by: list[str]
    agreed_at: Timestamp | None
    since: Timestamp


class DataParty(InvestorParty):
    """A party of the investor, with its times. The reasons of reviews are the organization's own."""

    email: str | None
    reviewed_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class DataWallet(Record):
    """An address of the investor. `linked_at`: when they proved that they own it; null where the organization recorded
    it."""

    address: str
    linked_at: Timestamp | None


class DataAttestation(Record):
    """What the organization said about an address of the investor on a chain, where everyone can read it."""

    id: UUID
    wallet_address: str
    chain_eid: int
    kyc_level: int
    accredited: bool
    country: str
    status: AttestationStatus
    expires_at: Timestamp | None
    tx_hash: str | None
    created_at: Timestamp
    updated_at: Timestamp


class DataDocument(InvestorDocument):
    """A document without its content. `sha256`: the hexadecimal hash of the content."""

    sha256: str


class DataTransfer(Record):
    """Tokens that an address of the investor received or sent. `amount`: in base units of the token."""

    asset_id: UUID
    symbol: str
    decimals: int
    chain_eid: int
    address: str
    is_received: bool
    amount: str
    tx_hash: str
    created_at: Timestamp


class DataAction(Record):
    """What the investor did in the organization, from its audit log, with the IP address that it was done from."""

    at: Timestamp
    action: str
    ip_address: str | None


class InvestorData(BaseModel):
    """Everything that is stored about the investor in an organization, oldest first. `made_at`: when it was read.
    Documents are listed without their content, which has a download of its own."""

    made_at: Timestamp
    organization_id: UUID
    organization_name: str
    account: DataAccount
    membership: DataMembership
    consent: DataConsent
    parties: list[DataParty]
    wallets: list[DataWallet]
    attestations: list[DataAttestation]
    documents: list[DataDocument]
    transfers: list[DataTransfer]
    orders: list[InvestorOrder]
    trades: list[InvestorTrade]
    claims: list[InvestorClaim]
    actions: list[DataAction]
