"""Checks of a pack's transactions and attestations against the chain."""

import re
from typing import Any

from backend.attestations.schemas import AttestationDetail
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.rpc.json_rpc import connect
from backend.compliance.countries import country_name
from backend.evidence import words
from backend.evidence.places import BATCH, MOST_RECORDS, MOST_SHOWN, Place, hashed
from backend.evidence.schemas import CheckKind, CheckResult, EvidenceCell

HASH = re.compile(r"0x[0-9a-f]{64}")


async def check_transactions(place: Place) -> None:
    """Compare the pack's transactions with their receipts: each is on the chain, succeeded, and in the stated block."""
    wanted = list(_transactions(place).items())
    rpc, differing = await connect(place.stated.chain_eid), 0
    for first in range(0, len(wanted[:MOST_RECORDS]), BATCH):
        part = wanted[first : first + BATCH]
        known = [tx_hash for tx_hash, _ in part if HASH.fullmatch(tx_hash)]
        answers = await rpc.batch([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in known])
        receipts = dict(zip(known, answers, strict=True))
        for tx_hash, (what, block) in part:
            reason = _fault(receipts.get(tx_hash), block)
            differing += reason is not None
            if reason is not None and differing <= MOST_SHOWN:
                expected = hashed(tx_hash)
                place.add(CheckKind.TRANSACTIONS, what, CheckResult.DIFFERS, expected=expected, reason=reason)
    place.sum_up(CheckKind.TRANSACTIONS, "Transactions", len(wanted), differing)


def _fault(receipt: dict[str, Any] | None, block: int | None) -> str | None:
    if receipt is None:
        return "The chain does not have this transaction."
    if int(receipt["status"], 16) != 1:
        return "The transaction failed on the chain."
    found = int(receipt["blockNumber"], 16)
    if block is not None and found != block:
        return f"The pack says block {block:,}, the chain block {found:,}."
    return None


def _transactions(place: Place) -> dict[str, tuple[str, int | None]]:
    """Return the pack's transactions on the chain: what each did, and its block where the pack states it."""
    eid, found = place.stated.chain_eid, dict[str, tuple[str, int | None]]()
    for one in place.pack.asset().deployments:
        if one.chain_eid == eid and one.tx_hash:
            found[one.tx_hash] = ("Deployment", None)
    if "attestations.json" in place.pack.files:
        for attestation in place.pack.attestations():
            if attestation.chain_eid == eid and attestation.tx_hash:
                name = attestation.party.name if attestation.party else "a party"
                found[attestation.tx_hash] = (f"Attestation of {name}", None)
    for rules in place.pack.history():
        if rules.chain_eid == eid:
            found[rules.tx_hash] = (f"Rules version {rules.version}", rules.block_number)
    return found


async def check_attestations(place: Place) -> None:
    """Compare each attestation with the registry at the block at which the pack read it."""
    if "attestations.json" not in place.pack.files:
        return
    eid = place.stated.chain_eid
    wanted = [one for one in place.pack.attestations() if one.chain_eid == eid and one.uid and one.proof]
    if not wanted:
        return
    at, rpc, differing = (await contracts_of(eid)).registry, await connect(eid), 0
    for one in wanted[:MOST_RECORDS]:
        found = await rpc.read(registry.NAME, at, "getAttestation", one.uid, block=_block(one))
        said, is_now = _said(one), _found(found)
        if said != is_now:
            differing += 1
            if differing <= MOST_SHOWN:
                name = one.party.name if one.party else words.short(one.wallet_address)
                pair = {"expected": EvidenceCell(text=said), "found": EvidenceCell(text=is_now)}
                place.add(CheckKind.ATTESTATIONS, f"Attestation of {name}", CheckResult.DIFFERS, **pair)
    place.sum_up(CheckKind.ATTESTATIONS, "Attestations", len(wanted), differing)


def _block(one: AttestationDetail) -> int:
    return one.proof.block_number if one.proof else 0


def _said(one: AttestationDetail) -> str:
    proof = one.proof
    if proof is None:
        return ""
    return _line(one.wallet_address, proof.kyc_level, proof.country, proof.accredited, proof.revoked)


def _found(values: Any) -> str:
    if not values["issuedAt"]:
        return "not in the registry"
    is_revoked = values["revokedAt"] > 0
    return _line(values["subject"], values["level"], values["country"], values["accredited"], is_revoked)


def _line(subject: str, level: int, country: str, accredited: bool, revoked: bool) -> str:
    parts = [
        words.short(subject),
        f"level {level}",
        country_name(country),
        "accredited" if accredited else "not accredited",
        *(["revoked"] if revoked else []),
    ]
    return ", ".join(parts)
