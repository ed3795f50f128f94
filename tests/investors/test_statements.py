"""Statements: every change of what an investor owns, with sums that equal the holdings."""

import csv
from typing import Any

from tests.conftest import World
from tests.investors.scene import Investor, Scene
from tests.support.firm import refused


async def lines_of(api: Any, investor: Investor, month: str) -> list[dict[str, str]]:
    text = await investor.text(api, f"/investor/{investor.membership}/statements.csv?month={month}")
    return list(csv.DictReader(text.splitlines()))


async def months_of(investor: Investor) -> list[dict[str, Any]]:
    return list((await investor.get("/statements"))["statements"])


async def test_statement_lists_changes_and_ends_with_the_holdings(scene: Scene, api: Any) -> None:
    [current] = await months_of(scene.ada)
    assert current["is_complete"] is False
    lines = await lines_of(api, scene.ada, current["month"])
    assert [(line["entry"], line["in"], line["out"], line["balance"]) for line in lines] == [
        ("opening balance", "", "", "0"),
        ("received", "120", "", "120"),
        ("sold", "", "4", "116"),
        ("closing balance", "", "", "116"),
    ]
    [holding] = (await scene.ada.get("/holdings"))["holdings"]
    assert holding["total"] == f"{lines[-1]['balance']}{'0' * 18}"
    assert (lines[2]["price"], lines[2]["value"], lines[2]["currency"]) == ("102", "408", "tUSD")
    assert (lines[-1]["price"], lines[-1]["value"]) == ("102", "11832")
    bought = (await lines_of(api, scene.ben, current["month"]))[2]
    assert (bought["entry"], bought["in"], bought["balance"]) == ("bought", "4", "37")
    assert float(bought["fee"]) > 0


async def test_month_before_the_first_change_is_empty(scene: Scene, api: Any) -> None:
    assert await lines_of(api, scene.ada, "2020-01") == []
    await refused(scene.ada.actor, "GET", f"/investor/{scene.ada.membership}/statements.csv?month=2020-13", 400)


async def test_investor_without_an_address_has_no_statement(world: World) -> None:
    investor = await Investor.of(world, await world.organization())
    assert await months_of(investor) == []
