"""Fixtures of the tests of requests."""

import pytest

from backend.server import sweep


@pytest.fixture
def unswept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that a test runs itself are not ended as lost."""

    async def nothing() -> None:
        return None

    monkeypatch.setattr(sweep, "once", nothing)
