"""The proof of an attestation on chain."""

from dataclasses import dataclass, field
from datetime import datetime

from backend.attestations.schemas import Attestation, AttestationDetail, AttestationProof
from state.chains.lookup import Chains
from state.core.countries import written
from state.core.dates import stamp


@dataclass
class ProofView:
    """`verdict`: agrees, differs, silent (the chain does not respond), absent (not on chain yet)."""

    verdict: str = ""
    is_valid: bool = False
    is_revoked: bool = False
    registry: str = ""
    registry_url: str = ""
    attester: str = ""
    attester_url: str = ""
    attester_name: str = ""
    block: int = 0
    differences: list[dict[str, str]] = field(default_factory=list)


def proof_view(record: AttestationDetail, chains: Chains) -> ProofView:
    """Compare a record with the state of the registry on its chain."""
    proof = record.proof
    if proof is None:
        return ProofView(verdict="silent" if record.uid else "absent")
    eid = proof.chain_eid
    return ProofView(
        verdict="agrees" if proof.agrees else "differs",
        is_valid=proof.is_valid,
        is_revoked=proof.revoked,
        registry=proof.registry_address,
        registry_url=chains._address_url(eid, proof.registry_address),
        attester=proof.attester,
        attester_url=chains._address_url(eid, proof.attester),
        block=proof.block_number,
        differences=[] if proof.agrees else _differences(record, proof),
    )


def _differences(record: Attestation, proof: AttestationProof) -> list[dict[str, str]]:
    """Return the fields on which record and chain differ: `old` is the record's value, `new` the chain's."""
    pairs: dict[str, tuple[str, str]] = {
        "Status": (record.status, "valid" if proof.is_valid else "revoked" if proof.revoked else "not valid"),
        "KYC level": (str(record.kyc_level), str(proof.kyc_level)),
        "Accredited": (_yes(record.accredited), _yes(proof.accredited)),
        "Country": (written(record.country), written(proof.country)),
        "Expires": (_day(record.expires_at), _day(proof.expires_at)),
    }
    expected = {"active": "valid", "revoked": "revoked", "expired": "not valid"}.get(record.status, "")
    return [
        {"name": name, "old": recorded, "new": on_chain}
        for name, (recorded, on_chain) in pairs.items()
        if (on_chain != expected if name == "Status" else recorded != on_chain)
    ]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _day(moment: datetime | None) -> str:
    return stamp(moment)[:19].replace("T", " ") or "never"
