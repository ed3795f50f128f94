"""Work of an organization counts for its root, also after a move to another hierarchy."""

import time
from types import SimpleNamespace

import pytest

from backend.core import db, roots
from tests.conftest import World
from tests.organizations.test_move import move
from tests.organizations.test_move_protections import join


async def test_moved_organization_counts_for_its_new_root_within_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = await world.organization("Left"), await world.organization("Right")
    unit = await world.organization("Unit", left)
    leaf = await world.organization("Leaf", unit)
    admin = await world.person(left)
    await join(right, admin.user_id)
    began = time.monotonic()
    assert [await db.root_of(one) for one in (unit, leaf)] == [str(left)] * 2
    await move(admin, left, unit, right)
    monkeypatch.setattr(roots, "time", SimpleNamespace(monotonic=lambda: began + 120))
    assert [await db.root_of(one) for one in (unit, leaf)] == [str(right)] * 2


async def test_root_is_looked_up_once_in_a_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = await world.organization()
    monkeypatch.setattr(roots, "time", SimpleNamespace(monotonic=lambda: 1_000.0))
    assert roots.known(unit) is None
    found = await db.root_of(unit)
    assert roots.known(unit) == (found,) == (str(unit),)
