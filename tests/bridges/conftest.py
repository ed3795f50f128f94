"""In these tests every bridge is checked without delay."""

from types import SimpleNamespace

import pytest

from backend.bridges import delivery
from backend.chain.layerzero import relayer
from tests.support.firm import BASE


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "PAUSES", (0.0, 0.0))


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain where an external executor delivers, at its own pace."""
    stand_in = SimpleNamespace(is_embedded=lambda eid: eid != BASE)
    monkeypatch.setattr(delivery, "node_urls", stand_in)
    monkeypatch.setattr(relayer, "node_urls", stand_in)
    monkeypatch.setattr(delivery, "PAUSES", (0.05, 0.05))
