"""The insight of an organization: numbers by the time of blocks, and only what the caller may read."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from backend.attestations.schemas import AttestationStatus
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.connections import database
from backend.models import AttestationRow, PartyRow
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.markets.test_trades import traded
from tests.support.daily_totals import UNIT, Story, account, write
from tests.support.firm import SEPOLIA, Firm, refused
from tests.support.issuance import Issuance

USD = 10**6
ZERO = f"0x{'0' * 40}"


async def test_insight_of_a_traded_asset_equals_its_lists(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, (sell, *_) = await traded(firm)
    asset = await firm.get(f"/assets/{market['asset_id']}")
    await activated(firm, asset, await draft_distribution(firm, asset, (sell["maker_address"], UNIT)))
    insight = await firm.get("/insight")
    issuance = insight["issuance"]
    assert issuance["currency"] == {"symbol": "tUSD", "decimals": 6}
    assert issuance["value"]["now"] == str(10_000 * USD), "1,000 tokens at 10"
    assert (issuance["value"]["before"], issuance["value"]["weeks"][-2:]) == ("0", ["0", str(10_000 * USD)])
    (shown,) = issuance["assets"]
    assert (shown["basis"], shown["price"], shown["supply"]) == ("last_price", str(10 * USD), asset["total_supply"])
    assert shown["priced_at"] == market["last_trade_at"]
    assert (issuance["trades"]["now"], issuance["trades"]["before"], shown["trades"]) == (2, 0, 2)
    assert issuance["volume"]["now"] == str(100 * USD)
    holders = (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]
    counted = [one for one in holders if not one["is_treasury"] and one["kind"] != "distribution"]
    assert issuance["holders"]["now"] == shown["holders"]["now"] == len(counted) == 1
    active = (await firm.get("/attestations", params={"status": "active"}))["attestations"]
    assert insight["attestations"]["active"]["now"] == len(active) == insight["attestations"]["issued"]["now"]
    assert [(one["kind"], one["asset_id"]) for one in issuance["events"]] == [
        ("distribution", asset["id"]), ("issue", asset["id"]),
    ]  # fmt: skip
    assert [(one["chain_eid"], one["status"]) for one in insight["chains"]] == [(SEPOLIA, "active")]
    assert insight["days"][-1] == insight["at"][:10]
    assert len(insight["days"]) == len(issuance["holders"]["weeks"]) == 53

    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 1}))["requestId"])
    revoked = await firm.post(f"/attestations/{active[0]['id']}/revoke", {"reason": "Left"})
    await firm.succeed(revoked["requestId"])
    insight = await firm.get("/insight")
    rules = [one["title"] for one in insight["issuance"]["events"] if one["kind"] == "rules"]
    assert rules == [f"Rules of {asset['symbol']} changed"]
    assert insight["attestations"]["active"]["now"] == len(active) - 1
    assert insight["attestations"]["issued"]["now"] == len(active)


async def test_insight_counts_a_year_by_the_time_of_blocks(world: World) -> None:
    firm = await Firm.found(world)
    now = datetime.now(UTC)
    first = await Story(firm.id, "ONE", nominal_value="90").begin()
    second = await Story(firm.id, "TWO", nominal_value="2.5").begin(is_traded=False)
    third = await Story(firm.id, "THREE").begin(is_traded=False)
    other = await Story(firm.id, "EURO", quote="EURX").begin()
    treasury, marta, jonas = account(), account(), account()

    def ago(days: int) -> datetime:
        return now - timedelta(days=days)

    await write(
        first.transfer(ago(500), ZERO, treasury, 100 * UNIT),
        first.transfer(ago(300), treasury, marta, 10 * UNIT),
        *first.trade(ago(200), treasury, jonas, 100 * USD, 5 * UNIT),
        *first.trade(ago(50), treasury, jonas, 101 * USD, 5 * UNIT),
        *first.trade(ago(10), marta, jonas, 104 * USD, 10 * UNIT),
        second.transfer(ago(100), ZERO, treasury, 40 * UNIT),
        second.transfer(ago(20), ZERO, marta, 4 * UNIT),
        second.transfer(ago(3), treasury, ZERO, 4 * UNIT),
        third.transfer(ago(100), ZERO, treasury, 7 * UNIT),
        other.transfer(ago(100), ZERO, treasury, 7 * UNIT),
        *other.trade(ago(90), treasury, jonas, 3 * USD, UNIT),
    )
    insight = await firm.get("/insight")
    issuance, place = insight["issuance"], [str(day) for day in insight["days"]].index
    value, holders = issuance["value"], issuance["holders"]
    assert value["weeks"][0] == str(9_000 * USD), "at the nominal value before the first trade"
    assert value["weeks"][place(str(ago(196).date()))] == str(10_000 * USD)
    assert value["now"] == str((10_400 + 100) * USD)
    assert value["before"] == str((10_100 + 100) * USD)
    assert {one["symbol"]: (one["basis"], one["price"]) for one in issuance["assets"]} == {
        "ONE": ("last_price", str(104 * USD)), "TWO": ("nominal", str(2_500_000)), "THREE": ("none", None),
        "EURO": ("other_currency", None),
    }  # fmt: skip
    assert [one["symbol"] for one in issuance["assets"]][:2] == ["ONE", "TWO"]
    held = {one["symbol"]: one["holders"]["now"] for one in issuance["assets"]}
    assert held == {"ONE": 2, "TWO": 2, "THREE": 1, "EURO": 2}, "the treasury is no known wallet here"
    assert (holders["weeks"][0], holders["now"]) == (1, 3), "an address that holds several assets counts once"
    assert (issuance["trades"]["now"], issuance["trades"]["before"]) == (1, 1)
    assert sum(issuance["trades"]["weeks"]) == 4
    assert (issuance["volume"]["now"], issuance["volume"]["before"]) == (str(1_040 * USD), str(505 * USD))
    assert (issuance["mints"]["now"], issuance["burns"]["now"], sum(issuance["mints"]["weeks"])) == (1, 1, 4)
    assert (insight["transfers"]["now"], sum(insight["transfers"]["weeks"])) == (0, 1)
    assert [(one["day"], one["title"]) for one in issuance["events"]] == [
        (str(ago(100).date()), f"{symbol} issued") for symbol in sorted_by_id(second, third, other)
    ]


def sorted_by_id(*stories: Story) -> list[str]:
    return [story.asset.symbol for story in sorted(stories, key=lambda story: story.asset.id)]


async def attested(firm: Firm, *ends: tuple[int, int | datetime | None, int | None]) -> None:
    """Write attestations that begin, expire and are revoked at a time, or a number of days from now."""
    now = datetime.now(UTC)

    def at(time: int | datetime | None) -> datetime | None:
        return now + timedelta(days=time) if isinstance(time, int) else time

    async with db.worker() as session:
        party = PartyRow(organization_id=firm.id, name="Marta Lindqvist", country="SWE")
        session.add(party)
        await session.flush()
        for begins, expires, revoked in ends:
            status = AttestationStatus.REVOKED if revoked is not None else AttestationStatus.ACTIVE
            place = {"organization_id": firm.id, "party_id": party.id, "chain_eid": SEPOLIA, "country": "SWE"}
            times = {"attested_at": at(begins), "expires_at": at(expires), "revoked_at": at(revoked)}
            session.add(AttestationRow(**place, **times, wallet_address=account(), kyc_level=2, status=status))


async def test_attestations_end_when_they_expire_or_are_revoked(world: World) -> None:
    firm = await Firm.found(world)
    await attested(firm, (-300, 65, None), (-300, -40, None), (-20, None, -2), (-20, 100, None), (-1, 5, None))
    insight = await firm.get("/insight")
    active = insight["attestations"]["active"]
    assert (active["weeks"][0], active["before"], active["now"]) == (0, 1, 3)
    assert (insight["attestations"]["issued"]["now"], sum(insight["attestations"]["issued"]["weeks"])) == (3, 5)
    assert [(one["kind"], one["in_days"], one["title"]) for one in insight["upcoming"]] == [
        ("attestation", 5, "Attestation of Marta Lindqvist expires"),
        ("attestation", 65, "Attestation of Marta Lindqvist expires"),
    ]
    assert insight["upcoming_total"] == 2


async def test_days_are_those_between_the_dates(world: World) -> None:
    """Both ends of tomorrow are a day from now, at any time of the day."""
    firm = await Firm.found(world)
    tomorrow = datetime.now(UTC).replace(hour=0, minute=0, second=1, microsecond=0) + timedelta(days=1)
    await attested(firm, (-1, tomorrow, None), (-1, tomorrow + timedelta(hours=23, minutes=59), None))
    assert [one["in_days"] for one in (await firm.get("/insight"))["upcoming"]] == [1, 1]


@pytest.mark.long
async def test_calendar_has_lockups_drafts_and_approvals(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    end = int((datetime.now(UTC) + timedelta(days=40)).timestamp())
    asset = await firm.asset(compliance_rules={"lockup_end_time": end})
    draft = {"name": "Income Q3", "chain_eid": SEPOLIA, "recipients": [{"address": account(), "amount": "1"}]}
    await firm.post(f"/assets/{asset['id']}/distributions", draft)
    await firm.patch("", {"approvals": ["asset.update"]})
    await world.person(firm.id)
    await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 3})
    (approval,) = (await firm.get("/approvals"))["approvals"]
    upcoming = (await firm.get("/insight"))["upcoming"]
    assert [(one["kind"], one["in_days"], one["title"]) for one in upcoming] == [
        ("approval", 7, f"Change the rules of {asset['symbol']} lapses without an approval"),
        ("distribution", 30, "The draft “Income Q3” is deleted unless it is activated"),
        ("lockup", 40, f"Lock-up of {asset['symbol']} ends"),
    ]
    assert (upcoming[0]["subject_id"], upcoming[2]["subject_id"]) == (approval["id"], asset["id"])
    key = await world.key(firm.id, Scope.ORGS_READ)
    (seen,) = (await firm.admin.client.call("GET", f"{firm.base}/insight", headers=key))["upcoming"]
    assert seen["title"] == "Asset update lapses without an approval", "a title names an asset"


async def test_parts_that_the_caller_may_not_read_are_absent(world: World) -> None:
    firm = await Firm.found(world)
    story = await Story(firm.id, "ABC", nominal_value="1").begin()
    await write(story.transfer(datetime.now(UTC), ZERO, account(), UNIT))
    await attested(firm, (-1, 5, None))
    parts = {
        Scope.ASSETS_READ: "issuance", Scope.TRANSFERS_READ: "transfers", Scope.ATTESTATIONS_READ: "attestations",
        Scope.CHAINS_READ: "chains",
    }  # fmt: skip
    for scope, part in parts.items():
        key = await world.key(firm.id, Scope.ORGS_READ, scope)
        seen = await firm.admin.client.call("GET", f"{firm.base}/insight", headers=key)
        assert [name for name in parts.values() if seen[name] is not None] == [part]
        assert seen["upcoming_total"] == (scope is Scope.ATTESTATIONS_READ)
    await firm.refused("GET", "/insight", 403, headers=await world.key(firm.id, Scope.ASSETS_READ))
    other = await Firm.found(world, "Other")
    seen = await other.get("/insight")
    assert (seen["issuance"]["assets"], seen["issuance"]["value"]["now"]) == ([], None)
    await refused(firm.admin, "GET", f"/orgs/{other.id}/insight", 403)


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements of the API."""
    found: list[str] = []
    engine = database.engine("app").sync_engine

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


async def test_insight_reads_daily_totals_and_no_single_event(world: World) -> None:
    firm = await Firm.found(world)
    await Story(firm.id, "ABC").begin()
    with statements() as found:
        await firm.get("/insight")
    assert any("asset_days" in text for text in found)
    assert not [text for text in found if "token_transfers" in text or "from trades" in text]
