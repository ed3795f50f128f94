"""Attempts exist only where the whole installation is a demo on this machine."""

from tests.conftest import World
from tests.support.issuance import Issuance


async def test_attempts_are_absent_where_the_installation_is_not_a_local_demo(world: World) -> None:
    firm = await Issuance.ready(world)
    await firm.refused("GET", "/attempts", 404)
    await firm.refused("POST", "/attempts/locked_up", 404)
