"""The demo's past: when it begins and ends, what is closed until then, and which days it names."""

import itertools
from collections.abc import AsyncIterator, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pypdf import PdfReader

from backend.chain.devnet import clock
from backend.chain.devnet.clock import Clock
from backend.core import recorded_time
from backend.core.readiness import readiness
from backend.core.runtime import runtime as process
from backend.core.settings import Settings, settings
from backend.demo import cast, history, papers, year_cast
from backend.demo.income import payouts
from backend.demo.year import workday
from backend.http.middleware import CREATES_DEMO
from backend.server import runtime
from tests.demo_people.test_sign_in import browser

YEAR = 340
DAYS = [date(2026, 11, 25) + timedelta(days=number) for number in range(370)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new data folder, whose chains' clock has not been read."""
    monkeypatch.setattr(settings(), "home", tmp_path)
    monkeypatch.setattr(settings(), "demo", True)
    monkeypatch.setattr(process.part(Clock), "offset", None)
    yield tmp_path
    recorded_time.stand_behind(timedelta(0))


def begun(**changes: object) -> int:
    """Prepare a start; return by how many days the chains are behind."""
    history.prepare(Settings(**{"demo": True, "home": settings().home, **changes}))  # type: ignore[arg-type]
    assert recorded_time.is_in_the_past() is (clock.offset() < 0)
    return -clock.offset() // 86_400


def test_past_begins_with_new_chains(home: Path) -> None:
    assert begun() == history.LENGTH.days


def test_past_continues_where_a_killed_start_left_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun()
    clock.set_offset(-100 * 86_400)
    (home / "chains" / "40161.json").write_text("{}")
    monkeypatch.setattr(process.part(Clock), "offset", None)
    assert begun() == 100
    monkeypatch.setattr(process.part(Clock), "offset", None)
    assert begun(demo_history=False) == 100, "what has begun is finished"


async def test_past_ends_to_the_second(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A remaining second would leave the installation closed."""
    set_to: list[int] = []

    async def note(eid: int) -> None:
        set_to.append(clock.offset())

    monkeypatch.setattr(history, "_set_time", note)
    monkeypatch.setattr(history, "_mine", note)
    begun()
    await history.end()
    assert (clock.offset(), recorded_time.is_in_the_past()) == (0, False)
    assert set(set_to) == {0}


def test_past_is_skipped_on_request(home: Path) -> None:
    assert begun(demo_history=False) == 0


def test_chains_that_exist_have_no_past(home: Path) -> None:
    (home / "chains").mkdir()
    (home / "chains" / "40161.json").write_text("{}")
    assert begun() == 0


def test_past_ends_where_the_start_has_no_demo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun()
    monkeypatch.setattr(process.part(Clock), "offset", None)
    assert begun(demo=False) == 0
    assert begun(database_url="postgresql://db.example/signum") == 0


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A moment in the demo's year."""
    monkeypatch.setattr(settings(), "demo", True)
    monkeypatch.setattr(readiness(), "doing", "March 2026")
    monkeypatch.setattr(readiness(), "percent", 40)
    recorded_time.stand_behind(timedelta(days=YEAR))
    yield
    recorded_time.stand_behind(timedelta(0))


@pytest_asyncio.fixture
async def visitor(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(api) as client:
        yield client


async def test_other_people_cannot_act_in_the_past(visitor: httpx.AsyncClient, past: None) -> None:
    body = {"email": "elin.halvorsen@northwind.example", "password": "correct horse battery"}
    calls = [("POST", "/v1/auth/login"), ("POST", "/v1/orgs"), ("GET", "/v1/auth/me"), ("POST", "/session/factor")]
    for method, path in calls:
        answer = await visitor.request(method, path, json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "The demo is being created (March 2026, 40%)." in answer.json()["detail"]
    assert (await visitor.get("/v1/health")).status_code == 200
    assert (await visitor.get("/v1/ready")).status_code in (200, 503)


async def test_sign_in_form_returns_to_its_page_in_the_past(visitor: httpx.AsyncClient, past: None) -> None:
    form = {"email": "elin.halvorsen@northwind.example", "password": "correct horse battery"}
    answer = await visitor.post("/session", data=form, headers={"origin": settings().origin})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?error=preparing")
    assert "set-cookie" not in answer.headers


async def test_calls_that_create_the_demo_are_answered(api: Any, past: None) -> None:
    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await api({**scope, CREATES_DEMO: True}, receive, send)

    async with httpx.AsyncClient(transport=runtime.local_transport(inside), base_url=settings().origin) as creator:
        assert (await creator.get("/v1/auth/me")).status_code == 401


@pytest.mark.parametrize("today", DAYS[::7])
def test_payouts_are_quarterly_and_settled(today: date) -> None:
    found = payouts(today, 3)
    days = [(today - day).days for day, _ in found]
    assert days == sorted(days, reverse=True)
    assert 25 <= days[-1] <= 117
    assert days[0] < min(days for days, name, _ in year_cast.SUBSCRIPTIONS[:1])
    assert all(88 <= before - after <= 93 for before, after in itertools.pairwise(days))


def test_payout_names_the_quarter_before_it() -> None:
    assert payouts(date(2026, 11, 25), 3) == [
        (date(2026, 4, 10), "Income, first quarter 2026"),
        (date(2026, 7, 10), "Income, second quarter 2026"),
        (date(2026, 10, 10), "Income, third quarter 2026"),
    ]
    assert payouts(date(2027, 2, 20), 1) == [(date(2027, 1, 10), "Income, fourth quarter 2026")]


@pytest.mark.parametrize("today", DAYS[:7])
def test_year_is_consistent_on_every_weekday(today: date) -> None:
    """Investors trade after they have subscribed, no token is used before its issue."""

    def day(days: int) -> date:
        return workday(today, days)

    assert all(day(days).weekday() < 5 for days in range(YEAR))
    subscribed = {name: day(days) for days, name, _ in year_cast.SUBSCRIPTIONS}
    assert day(year_cast.ISSUED["NREF"]) < min(subscribed.values())
    assert day(year_cast.ISSUED["NIB31"]) < day(year_cast.OFFSHORE) < day(year_cast.LEFT)
    assert subscribed["Brightwater LP"] < day(year_cast.OFFSHORE)
    assert subscribed[year_cast.LOST_BY] < day(year_cast.LOST)
    for days, _, _, seller, buyers in year_cast.TRADES:
        assert day(year_cast.OPENED) < day(days)
        for name in {seller, *(buyer for buyer, _ in buyers)} - {"Treasury"}:
            assert subscribed[name] < day(days)


def test_year_ends_with_the_supply_of_the_present() -> None:
    units = year_cast.FIRST_SUPPLY + sum(year_cast.CLOSINGS.values())
    assert str(units * 10**18) == next(one["initial_supply"] for one in cast.ASSETS if one["symbol"] == "NREF")


def test_prices_rise_slowly() -> None:
    prices = [price for _, _, price, _, _ in year_cast.TRADES]
    assert prices[0] < prices[-1] <= cast.ORDERS[0][0][1]
    assert all(abs(later - earlier) / earlier < 0.01 for earlier, later in itertools.pairwise(prices))


@pytest.mark.parametrize("proves", ["company_register", "proof_of_address", "passport", "id_card"])
def test_document_is_a_pdf_that_says_what_it_proves(proves: str, tmp_path: Path) -> None:
    titles = {"company_register": "Current extract", "proof_of_address": "Electricity bill"}
    content = papers.draw(proves, papers.Holder("James Okafor", "GBR", date(2026, 3, 2)))
    (tmp_path / "document.pdf").write_bytes(content)
    text = PdfReader(tmp_path / "document.pdf").pages[0].extract_text()
    assert titles.get(proves, proves.replace("id_", "identity ").upper()) in text
    assert "Okafor" in text
    assert "SPECIMEN" in text
    assert content == papers.draw(proves, papers.Holder("James Okafor", "GBR", date(2026, 3, 2))), "the same each time"
