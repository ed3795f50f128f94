"""Attestations sorted by their expiry, across pages."""

from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm

DAYS = ("2027-03-01T00:00:00Z", None, "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z")


async def test_attestations_are_sorted_by_expiry_across_pages(world: World) -> None:
    firm = await Firm.issuing(world, SEPOLIA)
    ids = []
    for number, day in enumerate(DAYS):
        party = await firm.verified(f"0x{number + 1:040x}")
        made = await firm.attest(party, expires_at=day) if day else await firm.attest(party)
        ids.append(made["id"])

    async def listed(order: str) -> list[str]:
        found, cursor = [], None
        while True:
            params = {"sort": "expires_at", "order": order, "limit": "3"} | ({"cursor": cursor} if cursor else {})
            page = await firm.get("/attestations", params=params)
            found += [one["id"] for one in page["attestations"]]
            if (cursor := page["nextCursor"]) is None:
                return found

    soonest = [ids[2], ids[3], ids[0], ids[1]]
    assert await listed("asc") == soonest
    assert await listed("desc") == soonest[::-1]
