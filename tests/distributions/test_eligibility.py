"""Recipients are checked against the asset's rules: listed with the reasons, refused, excluded or held."""

from typing import Any

import httpx
import pytest
from eth_account import Account

from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import World
from tests.distributions.test_drafts import issuance, path_of, stored
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"


async def attested(firm: Issuance, level: int = 2, **body: Any) -> str:
    """Attest a new party on chain, and return its wallet."""
    party = await firm.party(str(Account.create().address), **body)
    known = {"kyc_level": level, "accredited": False}
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json=known)
    await firm.attest(party)
    return str(party["wallet_address"])


def body_of(*recipients: tuple[str, int], **more: Any) -> dict[str, Any]:
    people = [{"address": address, "amount": str(amount)} for address, amount in recipients]
    return {"name": "Dividend", "chain_eid": SEPOLIA, "recipients": people} | more


@pytest.mark.long
async def test_recipients_are_checked_and_blocked_ones_are_held_or_excluded(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    limit = {"blocked_countries": ["PRK"], "max_tokens_per_holder": str(10 * UNIT)}
    asset = await firm.asset(required_kyc_level=2, compliance_rules=limit, max_holders=2)
    good, low = await attested(firm, name="Good"), await attested(firm, 1)
    abroad, over = await attested(firm, country="PRK"), await attested(firm, name="Over")
    treasury = (await firm.treasury())["address"]
    people = [(STRANGER, 1), (good, 2), (low, 3), (abroad, 4), (over, 11 * UNIT), (treasury, 5)]
    path = path_of(asset)

    plan = await firm.post(f"{path}?dry_run=true", body_of(*people))
    check = plan["check"]
    assert (check["eligible"], check["blocked"], check["source"]) == (2, 4, "chain")
    assert (check["total_eligible"], check["total_blocked"]) == ("7", str(8 + 11 * UNIT))
    assert plan["impact"]["total_recipients"] == "6"
    assert check["block"] > 0
    reasons = {one["address"]: " ".join(one["reasons"]) for one in check["recipients"]}
    assert [one["index"] for one in check["recipients"]] == [0, 2, 3, 4, 1, 5]
    assert "attestation" in reasons[STRANGER]
    assert "The KYC level is 1; 2 is required." in reasons[low]
    assert "Blocked: North Korea." in reasons[abroad]
    assert "would hold 11" in reasons[over]
    assert (reasons[good], reasons[treasury]) == ("", "")
    assert {one["name"] for one in check["recipients"]} >= {"party Good", "party Over", "unknown wallet"}
    # The distributor is one of the two holders.
    assert check["warnings"] == []

    problem = await firm.refused("POST", path, 409, json=body_of(*people, blocked="refuse"))
    assert "refuse 4 of 6 recipients" in problem.detail
    assert [error["pointer"] for error in problem.body["errors"]] == [f"/recipients/{i}" for i in (0, 2, 3, 4)]
    assert (await firm.get(path))["distributions"] == []

    made = await firm.post(path, body_of(*people, blocked="hold"))
    assert (made["total_recipients"], made["total_amount"]) == (2, "7")
    assert (made["held_recipients"], made["excluded_recipients"]) == (4, 0)
    paid = (await firm.get(path_of(asset, made) + "/recipients"))["recipients"]
    assert [(one["index"], one["address"]) for one in paid] == [(0, good), (1, treasury)]
    held = (await firm.get(path_of(asset, made) + "/held-recipients"))["recipients"]
    assert [(one["index"], one["address"], one["amount"]) for one in held] == [
        (0, STRANGER, "1"), (2, low, "3"), (3, abroad, "4"), (4, over, str(11 * UNIT)),
    ]  # fmt: skip
    assert " ".join(held[1]["reasons"]) == reasons[low]
    await firm.refused("GET", path_of(asset, made) + f"/proofs/{low}", 404)

    without = await firm.post(path, body_of(*people, blocked="exclude"))
    assert (without["merkle_root"], without["excluded_recipients"]) == (made["merkle_root"], 4)
    assert (await firm.get(path_of(asset, without) + "/held-recipients"))["recipients"] == []
    whole = await firm.post(path, body_of(*people))
    assert (whole["total_recipients"], whole["excluded_recipients"], whole["held_recipients"]) == (6, 0, 0)

    other = await Issuance.found(world)
    await other.refused("GET", path_of(asset, made) + "/held-recipients", 404)
    await firm.delete(path_of(asset, made))
    assert await stored(made) == [0, 0]
    await firm.refused("GET", path_of(asset, made) + "/held-recipients", 404)


@pytest.mark.long
async def test_limits_on_all_recipients_are_warnings(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    rules = {"lockup_end_time": 4_102_444_800}
    asset = await firm.asset(required_kyc_level=0, compliance_rules=rules, max_holders=2)
    first, second = await attested(firm), await attested(firm)
    plan = await firm.post(f"{path_of(asset)}?dry_run=true", body_of((first, 1), (second, 2)))
    lockup, cap = plan["check"]["warnings"]
    assert lockup == "Claims are refused until the lock-up ends on 1 January 2100."
    assert "2 recipients would be new holders" in cap
    assert "leaves room for 1" in cap


async def test_list_without_eligible_recipients_is_not_held(world: World) -> None:
    firm, asset = await issuance(world)
    for blocked in ("hold", "exclude"):
        problem = await firm.refused("POST", path_of(asset), 409, json=body_of((STRANGER, 5), blocked=blocked))
        assert problem.detail.startswith("The asset's rules refuse every recipient.")
    await firm.refused("POST", path_of(asset), 422, json=body_of((STRANGER, 5), blocked="skip"))
    assert (await firm.get(path_of(asset)))["distributions"] == []


async def test_long_csv_is_checked_with_the_tables(world: World, api: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, known = await firm.asset(), await attested(firm)
    lines = [f"0x{n:040x},{n}" for n in range(1, 1_500)] + [f"{known},7"]
    query = {"name": "List", "chain_eid": str(SEPOLIA), "blocked": "hold"}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:

        async def send(**more: str) -> Any:
            headers = firm.key | {"content-type": "text/csv"}
            path = f"/v1{firm.base}{path_of(asset)}"
            return await http.post(path, content="\n".join(lines), headers=headers, params=query | more)

        check = (await send(dry_run="true")).json()["check"]
        assert (check["eligible"], check["blocked"], check["source"], check["block"]) == (1, 1_499, "tables", None)
        assert (len(check["recipients"]), check["recipients"][199]["index"]) == (200, 199)
        assert (await send(blocked="some")).status_code == 400
        made = (await send()).json()
    assert (made["total_recipients"], made["total_amount"], made["held_recipients"]) == (1, "7", 1_499)
    page = await firm.get(path_of(asset, made) + "/held-recipients", params={"limit": 2, "q": "0x" + "0" * 37 + "5"})
    assert [one["index"] for one in page["recipients"]] == [1_279, 1_280]
    await firm.refused("POST", f"{path_of(asset)}?blocked=hold", 400, json=body_of((known, 5)))
