"""Which schemas are accepted."""

import pytest

from backend.migrations.rules import State, refusal

KNOWN = ["0001", "0002"]


@pytest.mark.parametrize("version", ["0001", "0002", None])
def test_schema_that_can_be_migrated_is_accepted(version: str | None) -> None:
    assert refusal(State(version, []), KNOWN) is None


def test_newest_schema_without_drift_is_accepted() -> None:
    assert refusal(State("0002", []), KNOWN, must_be_newest=True) is None
    assert refusal(State("0002", None), KNOWN, must_be_newest=True) is None


@pytest.mark.parametrize("must_be_newest", [True, False])
def test_newer_schema_is_refused(must_be_newest: bool) -> None:
    reason = refusal(State("0003", []), KNOWN, must_be_newest=must_be_newest)
    assert reason is not None
    assert "0003 is newer" in reason


@pytest.mark.parametrize(("version", "said"), [("0001", "is 0001, not 0002"), (None, "is missing")])
def test_older_schema_is_refused_where_it_is_not_migrated(version: str | None, said: str) -> None:
    reason = refusal(State(version, []), KNOWN, must_be_newest=True)
    assert reason == f"The database's schema {said}. Run `signum migrate` as its owner."


@pytest.mark.parametrize("found", [State("0001", None, is_known=False), State("0000", [])])
def test_schema_of_before_the_first_revision_is_refused(found: State) -> None:
    reason = refusal(found, KNOWN)
    assert reason is not None
    assert "created by version 0.1.0" in reason


def test_drift_is_refused_by_name_unless_accepted() -> None:
    drift = [f"index ix_{number} is missing" for number in range(7)]
    reason = refusal(State("0001", drift), KNOWN)
    assert reason is not None
    assert "index ix_0 is missing" in reason
    assert "and 2 more" in reason
    assert "--accept-drift" in reason
    assert refusal(State("0001", drift), KNOWN, accepts_drift=True) is None
