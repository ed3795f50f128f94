"""The attestation registry: who may attest, and what was attested."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from eth_utils.crypto import keccak

from backend.chain.abi.calls import Call, call
from backend.chain.abi.codec import organization_key
from backend.chain.rpc.json_rpc import connect

NAME = "AttestationRegistry"
ROOT = bytes(32)
BATCH = 500
"""Subjects of one round trip."""


@dataclass(frozen=True, slots=True)
class Attester:
    """An attester as last added; `active` is false if unknown or removed."""

    organization_key: str
    max_kyc_level: int
    can_revoke_others: bool
    active: bool
    name: str


@dataclass(frozen=True, slots=True)
class Attestation:
    """An attestation on chain at `block_number`. Times are Unix seconds, 0 is never."""

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
    """The combined content of the valid attestations of a subject."""

    found: bool
    level: int
    accredited: bool
    accredited_level: int
    countries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Whose attestations count: of a subject, by an organization alone or with its ancestors and `trusted`."""

    subject: str
    org_only: bool = False
    trusted: tuple[str, ...] = ()


def set_parent(at: str, organization_id: UUID, parent_id: UUID | None) -> Call:
    """Set the parent of an organization; only the operator may."""
    parent = ROOT if parent_id is None else organization_key(parent_id)
    return call(NAME, at, "setParent", organization_key(organization_id), parent)


def add_attester(
    at: str, attester: str, organization_id: UUID, name: str, max_kyc_level: int, can_revoke_others: bool
) -> Call:
    """Add an attester of an organization, or change its terms; only the operator may."""
    key = organization_key(organization_id)
    return call(NAME, at, "addAttester", attester, key, name, max_kyc_level, can_revoke_others)


def remove_attester(at: str, attester: str) -> Call:
    """Remove an attester; only the operator may."""
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
    """Attest a subject; only an attester may. The event `Attested` has the `uid`. The chain has the schema's keccak."""
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
    """Revoke an attestation; its attester may, or one above that may revoke others'."""
    return call(NAME, at, "revoke", uid, reason)


async def attester(eid: int, at: str, address: str) -> Attester:
    """Return an attester's current state."""
    values = await (await connect(eid)).read(NAME, at, "getAttester", address)
    return Attester(values["orgId"], values["maxKycLevel"], values["canRevokeOthers"], values["active"], values["name"])


async def parent_of(eid: int, at: str, organization_id: UUID) -> str:
    """Return the parent's key as 0x and 64 digits, all zero for a root or an organization never written."""
    return str(await (await connect(eid)).read(NAME, at, "parentOf", organization_key(organization_id)))


async def attestation(eid: int, at: str, uid: str) -> Attestation:
    """Return an attestation and whether it is valid, read at one block."""
    return (await attestations(eid, at, [uid]))[0]


async def attestations(eid: int, at: str, uids: Sequence[str]) -> list[Attestation]:
    """Return attestations and whether they are valid, read at one block."""
    reads = [(NAME, at, name, uid) for uid in uids for name in ("getAttestation", "isValid")]
    values, block = await (await connect(eid)).read_newest(reads)
    return [_attestation(*pair, block) for pair in zip(values[::2], values[1::2], strict=True)]


def _attestation(values: Any, valid: bool, block: int) -> Attestation:
    return Attestation(
        values["issuedAt"] != 0,
        valid,
        values["subject"],
        values["attester"],
        values["level"],
        values["country"],
        values["accredited"],
        values["issuedAt"],
        values["expiresAt"],
        values["revokedAt"],
        block,
    )


async def is_valid(eid: int, at: str, uid: str) -> bool:
    """Return whether an attestation is currently valid."""
    return bool(await (await connect(eid)).read(NAME, at, "isValid", uid))


async def standing(
    eid: int, at: str, subject: str, organization_id: UUID, *, org_only: bool = False, trusted: Sequence[str] = ()
) -> Standing:
    """Return the combined attestations of a subject by attesters of an organization, its ancestors and `trusted`."""
    read = eligibility(at, Question(subject, org_only, tuple(trusted)), organization_id)
    return standing_of(await (await connect(eid)).read(*read))


async def standing_without(
    eid: int, at: str, subject: str, organization_id: UUID, attester: str, trusted: Sequence[str] = ()
) -> tuple[Standing, Standing]:
    """Return what would be left of a subject's standing without the attestation by one of the organization's own
    attesters: with its ancestors and `trusted`, and by the organization alone."""
    rpc, key = await connect(eid), organization_key(organization_id)
    parent, attesters = await rpc.read_many([(NAME, at, "parentOf", key), (NAME, at, "attestersOf", key)])
    own = [one for one in attesters if one != attester]
    every = [*own, *(one for one in trusted if one not in (attester, *own))]
    counted, own_counted = await rpc.read_many(
        [
            (NAME, at, "eligibility", subject, parent, False, every),
            (NAME, at, "eligibility", subject, ROOT, False, own),
        ]
    )
    return standing_of(counted), standing_of(own_counted)


async def standings(
    eid: int, at: str, questions: Sequence[Question], organization_id: UUID
) -> tuple[list[Standing], int]:
    """Return what `standing` returns for many subjects, all read at one block, and that block."""
    rpc, found, block = await connect(eid), list[Standing](), 0
    for first in range(0, len(questions), BATCH):
        reads = [eligibility(at, one, organization_id) for one in questions[first : first + BATCH]]
        if block:
            values = await rpc.read_many(reads, block=block)
        else:
            values, block = await rpc.read_newest(reads)
        found += map(standing_of, values)
    return found, block


def eligibility(at: str, one: Question, organization_id: UUID) -> tuple[Any, ...]:
    """Return the read of a standing."""
    key = organization_key(organization_id)
    return (NAME, at, "eligibility", one.subject, key, one.org_only, list(one.trusted))


def standing_of(values: Any) -> Standing:
    """Return the answer of `eligibility`."""
    return Standing(
        values["found"], values["level"], values["accredited"], values["accreditedLevel"], tuple(values["countries"])
    )
