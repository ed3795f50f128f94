"""Statements: every change of what an investor owns, with sums that equal the holdings."""

import csv
from typing import Any

from tests.conftest import World
from tests.investors.scene import Investor, Scene, text_of
from tests.support.firm import refused

AMOUNTS = ("in", "out", "balance", "price", "value", "fee")


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


async def test_statement_as_pdf_has_the_lines_of_the_csv(scene: Scene, api: Any) -> None:
    [current] = await months_of(scene.ada)
    lines = await lines_of(api, scene.ada, current["month"])
    path = f"/investor/{scene.ada.membership}/statements.pdf?month={current['month']}"
    answer = await scene.ada.answer(api, path)
    assert (answer.headers["content-type"], answer.content[:5]) == ("application/pdf", b"%PDF-")
    assert f'filename="statement-{current["month"]}.pdf"' in answer.headers["content-disposition"]
    words = text_of(answer.content).replace(",", "").split("\n")
    for line in lines[:-1]:  # the closing balance of a running month is that of another second
        shown = [line["time"].replace("T", " ").removesuffix("Z"), line["entry"].capitalize()]
        shown += [line[name] for name in AMOUNTS if line[name]] + [line["currency"]] * bool(line["currency"])
        at = words.index(shown[0])
        assert words[at : at + len(shown)] == shown
    assert [words[words.index("Closing balance") + at] for at in (1, 2, 3, 4)] == ["116", "102", "11832", "tUSD"]
    text = " ".join(words)
    assert "Ada Sørensen" in text
    assert "Page 1 of 1" in text
    assert all(line["tx_hash"] in text and line["chain"] in text for line in lines)


async def test_pdf_of_a_complete_month_is_the_same_bytes_each_time(scene: Scene, api: Any) -> None:
    path = f"/investor/{scene.ada.membership}/statements.pdf?month=2020-01"
    first, second = [(await scene.ada.answer(api, path)).content for _ in range(2)]
    assert first == second
    assert "No holdings and no changes in this period." in text_of(first)


async def test_month_before_the_first_change_is_empty(scene: Scene, api: Any) -> None:
    assert await lines_of(api, scene.ada, "2020-01") == []
    await refused(scene.ada.actor, "GET", f"/investor/{scene.ada.membership}/statements.csv?month=2020-13", 400)


async def test_investor_without_an_address_has_no_statement(world: World) -> None:
    investor = await Investor.of(world, await world.organization())
    assert await months_of(investor) == []
