"""Shares of caps: shown and confirmed before a deployment changes them, recorded, and moved between chains."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.assets import deployment, workflow
from backend.assets.rules import Held, Terms
from backend.assets.terms import token_rules
from backend.caps import rules as cap_rules
from backend.caps.schemas import CapShare
from backend.chain.bindings import token
from backend.core.errors import Conflict
from tests.approvals.second_person import approve, waiting
from tests.assets.test_caps import bridged, held_by, shares_of
from tests.assets.test_updates import at
from tests.conftest import World
from tests.support.crash import killed, sent, unqueued
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance

EIDS = (1, 2, 3)


def share(eid: int, holders: int = 0, tokens: int = 0) -> CapShare:
    return CapShare(chain_eid=eid, max_holders=holders, max_tokens_per_holder=str(tokens))


def body(*shares: CapShare) -> dict[str, Any]:
    return {"shares": [one.model_dump() for one in shares], "reason": "More holders are expected on HyperEVM"}


parts = st.lists(st.integers(1, 9), min_size=3, max_size=3)
counts = st.fixed_dictionaries({eid: st.integers(0, 9) for eid in EIDS})


@given(parts=parts, extra=st.integers(-1, 1), holders=counts, chains=st.sampled_from([EIDS, EIDS[:2], (1, 2, 4)]))
def test_shares_set_by_hand_count_only_while_they_fit(
    parts: list[int], extra: int, holders: dict[int, int], chains: Sequence[int]
) -> None:
    chosen = tuple(share(eid, part) for eid, part in zip(EIDS, parts, strict=True))
    terms = Terms(max_holders=sum(parts) + extra, cap_shares=chosen)
    held = Held(holders=holders)
    fits = not extra and chains == EIDS and all(holders[one.chain_eid] <= one.max_holders for one in chosen)
    try:
        found = [token_rules(terms, chains, eid, held).max_holders for eid in chains]
    except Conflict:
        assert not fits
        return
    assert (found == parts) if fits else True
    taken = sum(holders.get(eid, 0) for eid in chains)
    assert sum(found) == terms.max_holders or taken > terms.max_holders
    named = {eid: f"Chain {eid}" for eid in chains}
    assert (cap_rules.fault(terms.caps, chosen, named, held.used, lambda _, amount: str(amount)) is None) == fits


def test_effects_name_every_chain_of_a_cap_that_changes() -> None:
    before = {1: share(1, 9, 5)}
    after = {1: share(1, 5, 5), 2: share(2, 4, 0)}
    caps = Terms(max_holders=9).caps
    found = cap_rules.effects({1: "One", 2: "Two"}, before, after, Held(holders={1: 3}).used, caps)
    assert [(e.chain_name, e.rule, e.before, e.after, e.used, e.total) for e in found] == [
        ("One", "max_holders", "9", "5", "3", "9"),
        ("Two", "max_holders", None, "4", "0", "9"),
    ]
    assert cap_rules.effects({1: "One"}, before, before, Held().used, caps) == []


@pytest.mark.long
async def test_bridge_shows_new_shares_and_is_refused_if_others_were_confirmed(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=9)
    path, wanted = f"/assets/{asset['id']}/bridge", {"destination_chain_eid": HYPEREVM}
    plan = await firm.post(path, wanted, params={"dry_run": "true"})
    changes = [(e["chain_eid"], e["rule"], e["before"], e["after"], e["total"]) for e in plan["impact"]["caps"]]
    assert changes == [(SEPOLIA, "max_holders", "9", "5", "9"), (HYPEREVM, "max_holders", None, "4", "9")]
    market = await firm.market_body(HYPEREVM)
    of_market = await firm.post(f"/assets/{asset['id']}/markets", market, params={"dry_run": "true"})
    assert of_market["impact"]["caps"] == plan["impact"]["caps"]

    stale = [share(SEPOLIA, 6).model_dump(), share(HYPEREVM, 3).model_dump()]
    for at_path, asked in ((path, wanted), (f"/assets/{asset['id']}/markets", market)):
        problem = await firm.refused("POST", f"{at_path}", 409, json={**asked, "expected_caps": stale})
        assert "5 holders" in problem.detail
    assert (await firm.get("/bridges"))["bridges"] == []
    assert (await token.rules(SEPOLIA, at(asset))).max_holders == 9

    confirmed = [share(HYPEREVM, 4).model_dump(), share(SEPOLIA, 5).model_dump()]
    accepted = await firm.post(path, {**wanted, "expected_caps": confirmed})
    await firm.succeed(accepted["requestId"])
    (entry,) = [e for e in (await firm.get("/audit"))["audit"] if e["action"] == "asset.caps_confirmed"]
    assert entry["actor"] == str(firm.admin.user_id)
    history = (await firm.get(f"/assets/{asset['id']}/rules-history"))["rule_sets"]
    by_chain = {row["chain_eid"]: row for row in reversed(history)}
    assert {row["request_id"] for row in by_chain.values()} == {accepted["requestId"]}, "also of the delivered packet"
    me = await firm.admin.call("GET", "/auth/me")
    assert {row["changed_by_name"] for row in history} == {me["user"]["display_name"] or me["user"]["email"]}
    assert by_chain[SEPOLIA]["request_title"].startswith("Bridge ")


async def test_asset_without_caps_is_brought_to_a_chain_as_planned(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=0)
    path, wanted = f"/assets/{asset['id']}/bridge", {"destination_chain_eid": HYPEREVM}
    plan = await firm.post(path, wanted, params={"dry_run": "true"})
    assert plan["impact"]["caps"] == []
    accepted = await firm.post(path, {**wanted, "expected_caps": []})
    await firm.succeed(accepted["requestId"])


@pytest.mark.long
async def test_share_of_a_cap_moves_between_chains_and_the_sum_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=8, compliance_rules={"max_tokens_per_holder": str(100 * UNIT)})
    await held_by(firm, asset, 2)
    asset = await bridged(firm, asset)
    path = f"/assets/{asset['id']}/cap-shares"
    caps = await firm.get(f"/assets/{asset['id']}/caps")
    assert [(c["max_holders"], c["holders"], c["largest_holding"]) for c in caps["chains"]] == [
        (4, 2, str(UNIT)),
        (4, 0, "0"),
    ]
    assert (caps["max_holders"], caps["is_set_by_hand"], caps["in_step"]) == (8, False, True)

    for words, shares in {
        "has 2 holders": (share(SEPOLIA, 1, 40 * UNIT), share(HYPEREVM, 7, 60 * UNIT)),
        "add up to 9 holders": (share(SEPOLIA, 3, 40 * UNIT), share(HYPEREVM, 6, 60 * UNIT)),
        "no share": (share(SEPOLIA, 8, 40 * UNIT), share(HYPEREVM, 0, 60 * UNIT)),
        "Name every chain": (share(SEPOLIA, 8, 100 * UNIT),),
    }.items():
        problem = await firm.refused("POST", path, 409, json=body(*shares))
        assert words in problem.detail

    # Sepolia has fewer holders and a larger holding afterwards, so it decreases first and then increases.
    wanted = body(share(HYPEREVM, 6, 30 * UNIT), share(SEPOLIA, 2, 70 * UNIT))
    plan = await firm.post(path, wanted, params={"dry_run": "true"})
    assert len(plan["impact"]["caps"]) == 4
    assert await shares_of(asset) == [(4, 50), (4, 50)]

    sums, real, failing = [], deployment.set_rules, [True]

    async def watched(run: Any, step: Any, row: Any, rules: Any, key: str) -> bool:
        if key == "rules" and row.chain_eid == HYPEREVM and failing:
            failing.clear()
            raise Conflict("The chain does not respond")
        written = await real(run, step, row, rules, key)
        sums.append([sum(parts) for parts in zip(*await shares_of(asset), strict=True)])
        return written

    monkeypatch.setattr(deployment, "set_rules", watched)
    accepted = await firm.post(path, wanted)
    await firm.fail(accepted["requestId"])
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    assert sums
    assert all(holders <= 8 and tokens <= 100 for holders, tokens in sums)
    assert await shares_of(asset) == [(2, 70), (6, 30)]
    caps = await firm.get(f"/assets/{asset['id']}/caps")
    assert (caps["is_set_by_hand"], caps["in_step"]) == (True, True)
    history = (await firm.get(f"/assets/{asset['id']}/rules-history"))["rule_sets"]
    assert history[0]["request_id"] == accepted["requestId"]

    # Another change of the rules keeps the shares; a new cap is shared equally again, and the plan says so.
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 1}))["requestId"])
    assert await shares_of(asset) == [(2, 70), (6, 30)]
    raised = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 10}, params={"dry_run": "true"})
    assert raised["steps"][0].startswith("Replace the limits")
    assert ("2", "5") in {(e["before"], e["after"]) for e in raised["impact"]["caps"]}
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"max_holders": 10}))["requestId"])
    assert await shares_of(asset) == [(5, 50), (5, 50)]


@pytest.mark.long
async def test_move_of_a_share_killed_at_any_moment_continues_and_keeps_the_sum(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await bridged(firm, await firm.asset(max_holders=8))
    with unqueued():
        accepted = await firm.post(f"/assets/{asset['id']}/cap-shares", body(share(SEPOLIA, 6), share(HYPEREVM, 2)))
    seen, kills = [], 0
    while await killed(workflow.share_caps, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
        seen.append([maximum for maximum, _ in await shares_of(asset)])
    assert kills >= 2
    assert [4, 2] in seen, "the share that decreases is written first"
    assert all(sum(shares) <= 8 for shares in seen)
    assert [maximum for maximum, _ in await shares_of(asset)] == [6, 2]
    labels = await sent(firm.id)
    assert (await firm.get(f"/assets/{asset['id']}/caps"))["in_step"]
    assert labels[-2:] == [labels[-1]] * 2, "one transaction on each chain"


@pytest.mark.long
async def test_share_of_a_cap_waits_for_a_second_person_and_is_hidden_from_other_tenants(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await bridged(firm, await firm.asset(max_holders=8))
    path, wanted = f"/assets/{asset['id']}/cap-shares", body(share(SEPOLIA, 3), share(HYPEREVM, 5))
    other = await Issuance.found(world)
    await other.refused("GET", f"/assets/{asset['id']}/caps", 404)
    await other.refused("POST", path, 404, json=wanted)

    await firm.patch("", {"approvals": ["asset.share_caps"]})
    second = await world.person(firm.id)
    accepted = await firm.post(path, wanted)
    approval = await waiting(firm, accepted)
    shown = await second.call("GET", f"{firm.base}/approvals/{approval['id']}")
    (shares,) = [one["text"] for one in shown["arguments"] if one["name"] == "shares"]
    assert "Sepolia" in shares
    assert "3" in shares
    assert [maximum for maximum, _ in await shares_of(asset)] == [4, 4]
    assert (await firm.get(f"/assets/{asset['id']}"))["cap_shares"] == []
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert [maximum for maximum, _ in await shares_of(asset)] == [3, 5]
