"""Response bodies of the evidence: what a pack says, as tables of words, and how its verification ended."""

from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field

from backend.core.fields import Timestamp


class CellKind(StrEnum):
    """How a cell is read. `amount`: base units of the asset. `time`: RFC 3339. `hash`: an address or a hash."""

    TEXT = "text"
    AMOUNT = "amount"
    TIME = "time"
    HASH = "hash"


class EvidenceCell(BaseModel):
    """A value of a table; empty text is no value."""

    text: str
    kind: CellKind = CellKind.TEXT


class EvidenceColumn(BaseModel):
    """A column of a table. Numbers are aligned at the right. `width` is its share of the line on paper."""

    title: str
    is_number: bool = False
    width: int = 10


class EvidenceSection(BaseModel):
    """A part of a pack as a table. `count` is the number of its records, of which `rows` has the first ones. `problem`
    says why it cannot be read."""

    name: str
    title: str
    about: str
    columns: list[EvidenceColumn]
    rows: list[list[EvidenceCell]]
    count: int
    problem: str | None = None


class EvidenceFile(BaseModel):
    """A file of a pack: the SHA-256 hash of its bytes, and the one that the pack states for it; null if it states
    none. `size` in bytes."""

    path: str
    size: int
    sha256: str
    stated_sha256: str | None


class EvidenceOmission(BaseModel):
    """A file that a pack does not have, and why."""

    path: str
    reason: str


class EvidenceBlock(BaseModel):
    """A chain and the block at which the pack was read."""

    chain_eid: int
    chain_name: str
    token_address: str
    block: int


class EvidenceContents(BaseModel):
    """What a pack says. `sha256` is the hash of the archive. Names are those that the pack has; `made_by` is null in
    packs that do not name the person."""

    asset_id: UUID
    name: str
    symbol: str
    decimals: int
    organization: str
    made_at: Timestamp
    made_by: str | None
    sha256: str
    size: int
    blocks: list[EvidenceBlock]
    files: list[EvidenceFile]
    omitted: list[EvidenceOmission]
    sections: list[EvidenceSection]


class CheckResult(StrEnum):
    """How a check ended. `unchecked`: it could not be made."""

    OK = "ok"
    DIFFERS = "differs"
    UNCHECKED = "unchecked"


class CheckKind(StrEnum):
    """What a check compares. `file`: a file with the pack's hash of it. `origin`: the pack with the audit log's entry
    of its export. `audit`: entries with the audit log. All others compare the pack with a chain at the pack's block."""

    FILE = "file"
    ORIGIN = "origin"
    AUDIT = "audit"
    TOKEN = "token"  # noqa: S105  (a kind of contract)
    BLOCK = "block"
    SUPPLY = "supply"
    BALANCES = "balances"
    RULES = "rules"
    TRANSACTIONS = "transactions"
    ATTESTATIONS = "attestations"


class EvidenceCheck(BaseModel):
    """A check: `expected` is what the pack says, `found` what the file, chain or audit log has; both only where they
    differ. `count`: how many records it compared. `reason`: why it differs or could not be made."""

    kind: CheckKind
    subject: str
    chain_eid: int | None = None
    chain_name: str | None = None
    result: CheckResult
    expected: EvidenceCell | None = None
    found: EvidenceCell | None = None
    count: int = 1
    reason: str | None = None


class EvidenceVerification(BaseModel):
    """The checks of a pack. `result`: `differs` if any check differs, `unchecked` if any could not be made, else `ok`.
    `sha256` is the hash of the archive."""

    result: CheckResult
    at: Timestamp
    sha256: str
    ok: int
    differs: int
    unchecked: int
    checks: list[EvidenceCheck]


class ManifestFile(BaseModel):
    """A file as the manifest states it."""

    path: str = Field(max_length=200)
    sha256: str = Field(max_length=64)
    size: int


class ManifestBlock(BaseModel):
    """A chain of the manifest."""

    chain_eid: int = Field(ge=1, le=2**32 - 1)
    token_address: str = Field(max_length=42)
    block: int = Field(ge=0, le=2**53)


class Manifest(BaseModel):
    """`manifest.json` of a pack. Names were added later than the rest."""

    asset_id: UUID
    organization_id: UUID
    made_at: AwareDatetime = Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(9000, 1, 1, tzinfo=UTC))
    made_by: UUID | None = None
    made_by_name: str | None = Field(None, max_length=400)
    asset_name: str = Field("", max_length=400)
    asset_symbol: str = Field("", max_length=40)
    organization_name: str = Field("", max_length=400)
    blocks: list[ManifestBlock] = Field(max_length=100)
    files: list[ManifestFile] = Field(max_length=200)
    omitted: list[EvidenceOmission] = Field(alias="left_out", max_length=200)


class ChainState(BaseModel):
    """A token at its block, as `chains.json` states it; null before the token was there."""

    chain_eid: int = Field(ge=1, le=2**32 - 1)
    chain_name: str = Field(max_length=200)
    token_address: str = Field(max_length=42)
    block: int = Field(ge=0, le=2**53)
    block_hash: str = Field(max_length=66)
    block_time: datetime
    supply: str | None = Field(pattern=r"^[0-9]{1,78}$")
    rules_version: int | None
    rules_sha256: str | None = Field(max_length=64)
