"""Decisions about a party."""

import pytest

from backend.errors import BadRequest, Conflict
from backend.parties import rules
from backend.parties.schemas import PartyStatus


@pytest.mark.parametrize("status", [s for s in PartyStatus if s is not PartyStatus.REJECTED])
def test_any_party_but_a_rejected_one_is_verified_and_rejected_freely(status: PartyStatus) -> None:
    rules.check_verify(status, None)
    rules.check_reject(status)


def test_a_rejection_is_undone_by_a_reason_only() -> None:
    with pytest.raises(BadRequest):
        rules.check_verify(PartyStatus.REJECTED, None)
    rules.check_verify(PartyStatus.REJECTED, "A new passport.")
    with pytest.raises(Conflict):
        rules.check_reject(PartyStatus.REJECTED)
