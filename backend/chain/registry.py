"""The attestation registry: who may attest, and what was attested."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from eth_utils.crypto import keccak

from backend.chain.calls import Call, call
from backend.chain.codec import organization_key
from backend.chain.rpc import connect

NAME = "AttestationRegistry"
ROOT = bytes(32)


class Word(StrEnum):
    """What became of an attester's latest word on a subject."""

    NONE = "none"
    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"
    DISTRUSTED = "distrusted"


_WORDS = tuple(Word)


@dataclass(frozen=True, slots=True)
class Attester:
    """An attester as it was last added; `active` is false when unknown or removed."""

    organization_key: str
    max_kyc_level: int
    can_revoke_others: bool
    active: bool
    name: str


@dataclass(frozen=True, slots=True)
class Attestation:
    """An attestation as the chain has it at `block_number`. Times are Unix seconds, 0 is never."""

    exists: bool
    is_valid: bool
    subject: str
    attester: str
    level: int
    country: str
    accredited: bool
    issued_at: int
    expires_at: int
    revoked_at: int
    block_number: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What the valid attestations on a subject say together."""

    found: bool
    level: int
    accredited: bool
    accredited_level: int
    countries: tuple[str, ...]


def set_parent(at: str, organization_id: UUID, parent_id: UUID | None) -> Call:
    """Write the parent of an organization; by the operator."""
    parent = ROOT if parent_id is None else organization_key(parent_id)
    return call(NAME, at, "setParent", organization_key(organization_id), parent)


def add_attester(
    at: str, attester: str, organization_id: UUID, name: str, max_kyc_level: int, can_revoke_others: bool
) -> Call:
    """Let an address attest for an organization, or change its terms there; by the operator."""
    key = organization_key(organization_id)
    return call(NAME, at, "addAttester", attester, key, name, max_kyc_level, can_revoke_others)


def remove_attester(at: str, attester: str) -> Call:
    """End the trust in an attester; by the operator."""
    return call(NAME, at, "removeAttester", attester)


def attest(
    at: str,
    *,
    subject: str,
    level: int,
    country: str,
    accredited: bool,
    expires_at: int = 0,
    schema: str = "kyc",
    data_hash: bytes = ROOT,
) -> Call:
    """Attest a subject; by the attester. The event `Attested` has the `uid`. The schema's keccak goes on chain."""
    return call(
        NAME,
        at,
        "attest",
        subject,
        level,
        country,
        accredited,
        expires_at,
        keccak(text=schema),
        data_hash.rjust(32, b"\0"),
    )


def revoke(at: str, uid: str, reason: str) -> Call:
    """Take an attestation back; by its attester, or one above that may revoke others'."""
    return call(NAME, at, "revoke", uid, reason)


async def attester(eid: int, at: str, address: str) -> Attester:
    """An attester as the chain has it now."""
    told = await (await connect(eid)).read(NAME, at, "getAttester", address)
    return Attester(told["orgId"], told["maxKycLevel"], told["canRevokeOthers"], told["active"], told["name"])


async def parent_of(eid: int, at: str, organization_id: UUID) -> str:
    """The parent's key as 0x and 64 digits, all zero for a root or an organization never written."""
    return str(await (await connect(eid)).read(NAME, at, "parentOf", organization_key(organization_id)))


async def attestation(eid: int, at: str, uid: str) -> Attestation:
    """An attestation and whether it stands, read at one block."""
    rpc = await connect(eid)
    (told, valid), block = await rpc.read_newest([(NAME, at, "getAttestation", uid), (NAME, at, "isValid", uid)])
    return Attestation(
        told["issuedAt"] != 0,
        valid,
        told["subject"],
        told["attester"],
        told["level"],
        told["country"],
        told["accredited"],
        told["issuedAt"],
        told["expiresAt"],
        told["revokedAt"],
        block,
    )


async def is_valid(eid: int, at: str, uid: str) -> bool:
    """Whether an attestation stands now."""
    return bool(await (await connect(eid)).read(NAME, at, "isValid", uid))


async def status_of(eid: int, at: str, subject: str, attester: str) -> tuple[Word, str | None]:
    """What became of an attester's latest word on a subject, and its uid."""
    status, uid = await (await connect(eid)).read(NAME, at, "statusOf", subject, attester)
    return _WORDS[status], uid if int(uid, 16) else None


async def standing(
    eid: int, at: str, subject: str, organization_id: UUID, *, org_only: bool = False, trusted: Sequence[str] = ()
) -> Standing:
    """What attesters of an organization, its ancestors and `trusted` say together about a subject."""
    told = await (await connect(eid)).read(
        NAME, at, "eligibility", subject, organization_key(organization_id), org_only, list(trusted)
    )
    return Standing(told["found"], told["level"], told["accredited"], told["accreditedLevel"], tuple(told["countries"]))
