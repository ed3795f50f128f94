"""The chains that the dialog offers for an attestation."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from backend.attestations.schemas import AttestationRead
from state.attestations.issue import _reachable, active_words
from state.chains.lookup import ChainView

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


def _attestation(**fields: Any) -> AttestationRead:
    at = datetime(2026, 11, 28, tzinfo=UTC)
    known = {
        "id": uuid4(), "organization_id": uuid4(), "party_id": uuid4(), "wallet_address": WALLET, "chain_eid": 1,
        "kyc_level": 1, "accredited": False, "country": "CHE", "expires_at": datetime(2026, 12, 18, tzinfo=UTC),
        "uid": "0x1", "status": "active", "tx_hash": None, "request_id": None, "created_at": at, "updated_at": at,
    }  # fmt: skip
    return AttestationRead.model_validate(known | fields)


def test_issue_dialog_says_where_the_wallet_is_attested_and_until_when():
    chains = {
        1: ChainView(eid=1, name="Sepolia", enabled=True),
        2: ChainView(eid=2, name="Base", enabled=False, factory="0x2"),
        3: ChainView(eid=3, name="Ronin", enabled=False),
    }
    active = active_words([_attestation(), _attestation(chain_eid=2, expires_at=None)], WALLET.lower(), UTC)
    assert [option["label"] for option in _reachable(chains, active)] == [
        "Sepolia: active until 18 Dec 2026", "Base, not enabled: active, never expires",
    ]  # fmt: skip


def test_issue_dialog_ignores_attestations_that_ended_or_are_of_another_wallet():
    records = [_attestation(status="revoked"), _attestation(wallet_address="0x" + "1" * 40)]
    assert active_words(records, WALLET, UTC) == {}
