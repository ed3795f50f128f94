"""Which parties the market wizard offers to attest."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from backend.parties.schemas import Party, PartyKind, PartyStatus
from state.compliance.rules import Rules, checked
from state.markets.attest_buyers import attestable


def _party(number: int, **facts: Any) -> Party:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    known = {"wallet_address": f"0x{number:040x}", "kyc_level": 2, "accredited": False, "country": "SWE"} | facts
    return Party(
        id=UUID(int=number), organization_id=UUID(int=99), kind=PartyKind.PERSON, name="Party", email=None,
        status=PartyStatus.VERIFIED, reviewed_by=None, reviewed_at=None, reason=None, created_at=now, updated_at=now,
        **known,
    )  # fmt: skip


def test_only_parties_that_could_then_buy_are_attested() -> None:
    parties = [
        _party(1), _party(2, wallet_address=None), _party(3, kyc_level=1), _party(4, country="IRN"), _party(5),
        _party(6, accredited=True),
    ]  # fmt: skip
    rules = checked(Rules(level=2, countries=["IRN"]), 18)
    assert attestable(parties, {str(UUID(int=5))}, rules) == [str(UUID(int=1)), str(UUID(int=6))]
    accredited = checked(Rules(level=0, accredited=True), 18)
    assert attestable(parties, set(), accredited) == [str(UUID(int=6))]
    assert attestable([_party(7, kyc_level=0)], set(), checked(Rules(), 18)) == []
