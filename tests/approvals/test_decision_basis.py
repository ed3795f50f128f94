"""What a second person decides on: names, what has changed since the request, documents and comments."""

from typing import Any

import pytest

from backend.approvals.differences import differences, label
from backend.core.fields import MAX_UINT256
from backend.users.schemas import Role
from tests.approvals.second_person import WHY, approve, path_of, waiting
from tests.conftest import Actor, World
from tests.controls.issuer import Issuer, issuer
from tests.support.firm import SEPOLIA, Firm, refused
from tests.support.issuance import UNIT
from tests.support.runs import result_of

PDF = b"%PDF-1.7\n"


async def _guarded(world: World) -> tuple[Issuer, Any, Any]:
    """An issuer whose forced transfers need a second person, a holder of 10 tokens and a receiver."""
    firm = await issuer(world)
    sender, receiver = await firm.trader(), await firm.trader()
    await firm.give_tokens(sender, 10 * UNIT)
    await firm.patch("", {"approvals": ["token.forced_transfer"]})
    return firm, sender, receiver


async def test_plan_of_a_guarded_control_says_that_a_second_person_must_approve(world: World) -> None:
    firm, sender, receiver = await _guarded(world)
    giver = {"from_address": sender["address"], "to_address": receiver["address"], "amount": str(UNIT)}
    guarded, other = await firm.plan("forced-transfer", **giver), await firm.plan("pause")
    assert [plan["impact"]["needs_second_person"] for plan in (guarded, other)] == [True, False]


async def test_activity_of_an_approved_control_names_both_people_the_chain_and_the_transaction(world: World) -> None:
    firm, sender, receiver = await _guarded(world)
    second = await world.person(firm.id)
    accepted = await firm.post(
        firm.control("forced-transfer"),
        {
            "chain_eid": SEPOLIA, "from_address": sender["address"], "to_address": receiver["address"],
            "amount": str(UNIT), "reason": WHY,
        },
    )  # fmt: skip
    approval = await waiting(firm, accepted)
    listed = (await firm.get(f"/assets/{firm.of['id']}/activity?kind=control"))["activity"]
    assert [(one["status"], one["approver_name"], one["tx_hash"]) for one in listed] == [
        ("awaiting_approval", None, None)
    ]
    request = await approve(firm, second, approval)
    [done] = (await firm.get(f"/assets/{firm.of['id']}/activity?kind=control"))["activity"]
    assert (done["status"], done["chain_name"]) == ("succeeded", "Sepolia Devnet")
    assert done["tx_hash"] == request["steps"][-1]["tx_hash"] is not None
    assert done["approver_name"] == second.email.split("@")[0].title() != done["actor_name"]


async def _forced(firm: Issuer, sender: Any, receiver: Any) -> Any:
    """Request a forced transfer, and return its approval with the recorded plan."""
    body = {
        "chain_eid": SEPOLIA, "from_address": sender["address"], "to_address": receiver["address"],
        "amount": str(4 * UNIT), "reason": WHY,
    }  # fmt: skip
    approval = await waiting(firm, await firm.post(firm.control("forced-transfer"), body))
    await result_of(f"approval.plan:{approval['id']}")
    return approval


@pytest.mark.long
async def test_approval_shows_names_documents_comments_and_what_changed_since_the_request(world: World) -> None:
    firm, sender, receiver = await _guarded(world)
    second, viewer = await world.person(firm.id), await world.person(firm.id, Role.VIEWER)
    [party] = [p for p in await _parties(firm) if p["wallet_address"] == sender["address"]]
    await _upload(firm, party)
    approval = await _forced(firm, sender, receiver)

    seen = await second.call("GET", path_of(firm, approval))
    symbol = firm.of["symbol"]
    assert [s["title"] for s in seen["plan"]["steps"]] == [f"Move 4 {symbol} from Marta Lindqvist to Marta Lindqvist"]
    assert {c["address_name"] for c in seen["plan"]["impact"]["changes"]} == {"Marta Lindqvist"}
    assert {c["symbol"] for c in seen["plan"]["impact"]["changes"]} == {symbol}
    assert [(d["party_id"], d["kind"]) for d in seen["documents"]] == [(party["id"], "other")]
    assert seen["planned_at"] is not None
    assert seen["changed_since"] == []

    asked = await second.call("POST", path_of(firm, approval, "comments"), json={"text": "Which order?"})
    await firm.post(f"/approvals/{approval['id']}/comments", {"text": "Order 14"})
    await firm.give_tokens(sender, 2 * UNIT)
    seen = await firm.get(f"/approvals/{approval['id']}")
    assert [(c["user_id"], c["text"]) for c in seen["comments"]] == [
        (str(second.user_id), "Which order?"), (str(firm.admin.user_id), "Order 14")
    ]  # fmt: skip
    assert seen["comments"][0] == asked
    [change] = seen["changed_since"]
    assert (change["at_request"], change["now"]) == (f"10 {symbol}", f"12 {symbol}")
    assert change["label"].startswith("Balance of Marta Lindqvist, ")

    hidden = await viewer.call("GET", path_of(firm, approval))
    assert (hidden["comments"], hidden["documents"], hidden["changed_since"]) == ([], [], [])
    await _check_comments_refused(world, firm, viewer, approval)
    await second.call("POST", path_of(firm, approval, "deny"), json={"reason": "Not now"})
    problem = await refused(second, "POST", path_of(firm, approval, "comments"), 409, json={"text": "Late"})
    assert "denied" in problem.detail
    assert len((await firm.get(f"/approvals/{approval['id']}"))["comments"]) == 2


@pytest.mark.long
async def test_audit_log_names_who_approved_a_control(world: World) -> None:
    firm, sender, receiver = await _guarded(world)
    second = await world.person(firm.id)
    approval = await _forced(firm, sender, receiver)
    await second.call("POST", path_of(firm, approval, "approve"))
    await firm.succeed(approval["request_id"])
    [entry] = (await firm.get("/audit", params={"action": "control.confirmed"}))["audit"]
    name = (await second.call("GET", "/auth/me"))["user"]["display_name"]
    assert (entry["actor"], entry["after"]["approved_by"]) == (str(firm.admin.user_id), name)
    assert entry["after"]["control"] == "forced_transfer"


async def _check_comments_refused(world: World, firm: Issuer, viewer: Actor, approval: Any) -> None:
    """A viewer, a key, another organization and bad text are refused."""
    path = path_of(firm, approval, "comments")
    await refused(viewer, "POST", path, 403, json={"text": "Hello"})
    await firm.refused("POST", f"/approvals/{approval['id']}/comments", 422, json={"text": " "})
    await firm.refused("POST", f"/approvals/{approval['id']}/comments", 422, json={"text": "x" * 1_001})
    elsewhere = await Firm.found(world, "Elsewhere")
    await refused(elsewhere.admin, "POST", path, 403, json={"text": "Hello"})
    await elsewhere.refused("POST", f"/approvals/{approval['id']}/comments", 404, json={"text": "Hello"})


async def _parties(firm: Issuer) -> Any:
    params = {"organization_id": str(firm.id)}
    return (await firm.admin.call("GET", "/identity/parties", params=params))["parties"]


async def _upload(firm: Issuer, party: Any) -> None:
    path, params = f"/identity/parties/{party['id']}/documents", {"kind": "other", "organization_id": str(firm.id)}
    await firm.admin.call("POST", path, params=params, content=PDF, headers={"content-type": "application/pdf"})


HOLDER = {"wallet_address": "0xA1", "name": "Kestrel", "balance": "5", "reasons": ["Level 2 is needed."]}
BALANCE = {"chain_eid": 1, "address": "0xA1", "field": "balance", "before": "5", "after": "3"}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"holders_total": 4}, {"holders_total": 5}, [("holders_total", 4, 5)]),
        ({"changes": [BALANCE]}, {"changes": [BALANCE | {"before": "7", "after": "5"}]}, [("balance", "5", "7")]),
        ({"changes": [BALANCE]}, {"changes": [BALANCE | {"after": "2"}]}, [("balance", "3", "2")]),
        ({"holders_excluded": []}, {"holders_excluded": [HOLDER]}, [("holders_excluded", "not listed", "listed")]),
        ({"holders_excluded": [HOLDER]}, {"holders_excluded": []}, [("holders_excluded", "listed", "not listed")]),
        ({"effects": {"as_of": [{"block": 1}]}}, {"effects": {"as_of": [{"block": 2}]}}, []),
        ({"warnings": ["a"]}, {"warnings": []}, [("warnings", ["a"], [])]),
        ({"frozen": str(MAX_UINT256)}, {"frozen": str(MAX_UINT256)}, []),
    ],
)
def test_plans_that_differ_name_the_values_that_people_compare(
    before: dict[str, Any], now: dict[str, Any], expected: list[tuple[str, Any, Any]]
) -> None:
    assert [(d.name, d.before, d.after) for d in differences(before, now)] == expected


def test_entry_in_another_order_is_no_difference() -> None:
    other = HOLDER | {"wallet_address": "0xB2"}
    assert differences({"holders": [HOLDER, other]}, {"holders": [other, HOLDER]}) == []


def test_difference_is_labeled_by_its_holder_and_chain() -> None:
    [one] = differences({"changes": [BALANCE]}, {"changes": [BALANCE | {"before": "7", "address_name": "Kestrel"}]})
    assert label(one, str.title, {1: "Sepolia"}) == "Balance of Kestrel, Sepolia"
