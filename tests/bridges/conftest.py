"""Every bridge of these tests is looked at again at once."""

from types import SimpleNamespace

import pytest

from backend.bridges import carrying
from backend.chain import relayer
from tests.firm import BASE


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "PAUSES", (0.0, 0.0))


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """One chain where others deliver, in their own time."""
    stand_in = SimpleNamespace(is_embedded=lambda eid: eid != BASE)
    monkeypatch.setattr(carrying, "endpoints", stand_in)
    monkeypatch.setattr(relayer, "endpoints", stand_in)
    monkeypatch.setattr(carrying, "PAUSES", (0.05, 0.05))
