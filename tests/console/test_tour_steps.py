"""A step of the tour ends once what the later ones need has happened."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.console.test_tour_turns import TOUR, stored_of
from tests.support.firm import Firm


def second_step(firm: Firm, **facts: str) -> dict[str, Any]:
    """Return the stored progress of an issuer's tour whose first step is done."""
    since = datetime.now(UTC).isoformat()
    known = {"fund": "NHLT", "fund_id": str(firm.id)} | facts
    return {"tour": "issuer", "org": str(firm.id), "since": since, "at": 1, "facts": known}


async def test_party_without_what_the_fund_requires_is_verified_again(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    began = json.dumps(second_step(firm, level="2", accredited="yes"))
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        party = await firm.verified("0x" + "1" * 40, level=1)
        said = await tab.send(f"{TOUR}.look", {"stored": began})
        assert "Verified, but not for this fund." in said
        assert "Marta Lindqvist lacks KYC level 2 and accreditation, which NHLT requires." in said
        stored = stored_of(said)
        assert json.loads(stored)["at"] == 1
        assert f"parties?id={party['id']}" in said

        body = {"kyc_level": 2, "accredited": True}
        await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json=body)
        later = json.loads(stored_of(await tab.send(f"{TOUR}.look", {"stored": stored})))
        assert (later["at"], later["facts"]["party"]) == (2, "Marta Lindqvist")
        assert "lacks" not in later["facts"]
        assert socket.failures == []


async def test_level_that_a_browser_made_up_changes_nothing(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    async with connected() as socket:
        tab = await tab_of(firm, socket, "overview")
        began = json.dumps(second_step(firm, level="high"))
        party = await firm.verified("0x" + "1" * 40, level=1)
        kept = json.loads(stored_of(await tab.send(f"{TOUR}.look", {"stored": began})))
        assert (kept["at"], kept["facts"]["party"]) == (2, party["name"])
        assert socket.failures == []
