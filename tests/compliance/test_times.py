"""Times at the limits of the calendar: accepted times can be stored, read back and shown."""

import pytest
from pydantic import TypeAdapter, ValidationError

from backend.api_keys.schemas import ApiKeyCreate
from backend.compliance.schemas import ComplianceRules
from backend.core.fields import Moment


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-14:00", "9999-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_time_that_cannot_be_read_back_is_rejected(text: str) -> None:
    with pytest.raises(ValidationError):
        ApiKeyCreate.model_validate({"name": "Key", "scopes": ["orgs:read"], "expires_at": text})


def test_time_is_stored_in_utc() -> None:
    assert TypeAdapter(Moment).validate_python("2030-01-01T01:00:00+01:00").isoformat() == "2030-01-01T00:00:00+00:00"


def test_lockup_ends_on_an_existing_date() -> None:
    with pytest.raises(ValidationError):
        ComplianceRules(lockup_end_time=2**53)
    assert ComplianceRules(lockup_end_time=253_370_764_799).lockup_end_time == 253_370_764_799
