"""Decisions about a party."""

import pytest

from backend.core.errors import BadRequest, Conflict
from backend.parties import rules
from backend.parties.schemas import PartyStatus


@pytest.mark.parametrize("status", [s for s in PartyStatus if s is not PartyStatus.REJECTED])
def test_party_that_is_not_rejected_is_verified_or_rejected_without_a_reason(status: PartyStatus) -> None:
    rules.check_verify(status, None)
    rules.check_reject(status)


def test_rejection_is_undone_only_with_a_reason() -> None:
    with pytest.raises(BadRequest):
        rules.check_verify(PartyStatus.REJECTED, None)
    rules.check_verify(PartyStatus.REJECTED, "A new passport.")
    with pytest.raises(Conflict):
        rules.check_reject(PartyStatus.REJECTED)
