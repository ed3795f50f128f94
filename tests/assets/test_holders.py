"""The cap table: what each holder owns and in which form, whose the addresses are, and shares that add up."""

import random
from fractions import Fraction

import pytest
import sqlalchemy as sa

from backend.assets.holders import SHARES
from backend.core import db
from tests.assets.test_history import indexed
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance


@pytest.mark.long
async def test_holders_are_named_and_their_amounts_are_told_apart(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT), required_kyc_level=1)
    treasury, holder = await firm.treasury(), await firm.trader()
    distribution = await activated(firm, asset, await draft_distribution(firm, asset, (holder["address"], UNIT // 3)))
    await firm.transfer(asset, holder["address"], 100 * UNIT)
    market = await firm.market(asset)
    await firm.order(market, treasury, "sell", 10**6, 40 * UNIT)
    freeze = {"chain_eid": SEPOLIA, "reason": "Court order", "address": holder["address"], "amount": str(30 * UNIT)}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/freeze", freeze))["requestId"])
    height = await indexed()

    path = f"/assets/{asset['id']}/holders"
    cap_table = await firm.get(path)
    rows = {h["address"]: h for h in cap_table["holders"]}
    assert market["market_address"] not in rows
    owned = rows[treasury["address"]]
    left = 900 * UNIT - UNIT // 3
    assert (owned["kind"], owned["name"], owned["is_treasury"]) == ("own_wallet", treasury["label"], True)
    assert (owned["balance"], owned["escrowed"], owned["frozen"]) == (str(left), str(40 * UNIT), "0")
    assert owned["available"] == str(left - 40 * UNIT)
    held = rows[holder["address"]]
    assert (held["kind"], held["name"]) == ("party", "Marta Lindqvist")
    assert [held[n] for n in ("balance", "escrowed", "frozen", "available")] == [
        str(n * UNIT) for n in (100, 0, 30, 70)
    ]
    paid = rows[distribution["distributor_address"]]
    assert (paid["kind"], paid["name"], paid["balance"]) == ("distribution", "Dividend", str(UNIT // 3))
    # 89.9666…, 10.00 and 0.0333… percent: the two remainders of two thirds are one hundredth.
    assert [rows[a]["share_bps"] for a in (treasury["address"], holder["address"])] == [8997, 1000]
    assert (paid["share_bps"], cap_table["total_balance"], cap_table["total_escrowed"]) == (
        3, str(1_000 * UNIT), str(40 * UNIT),
    )  # fmt: skip

    assert cap_table["investors"] == 1, "neither the treasury nor the distribution"
    found = await firm.get(path, params={"q": "Marta"})
    assert [(h["name"], h["share_bps"]) for h in found["holders"]] == [("Marta Lindqvist", 1000)]
    assert found["total_balance"] == str(1_000 * UNIT)
    nothing = await firm.get(path, params={"q": "no holder"})
    assert (found["investors"], nothing["investors"]) == (1, 1)
    assert (nothing["holders"], nothing["total_balance"]) == ([], str(1_000 * UNIT))
    past = await firm.get(path, params={"block": height})
    assert {h["address"]: h for h in past["holders"]} == {
        a: h | {"share_bps": None, "eligible": None, "reasons": []} for a, h in rows.items()
    }
    assert (past["total_balance"], past["total_escrowed"]) == (None, None)
    other = await Firm.found(world, "Other")
    await other.refused("GET", path, 404)


async def test_holder_who_is_no_longer_eligible_says_why(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT), required_kyc_level=1)
    treasury, holder = await firm.treasury(), await firm.trader()
    await firm.transfer(asset, holder["address"], 100 * UNIT)
    await indexed()
    path = f"/assets/{asset['id']}"

    async def verdicts() -> dict[str, tuple[bool | None, list[str]]]:
        listed = (await firm.get(f"{path}/holders"))["holders"]
        return {one["address"]: (one["eligible"], one["reasons"]) for one in listed}

    assert await verdicts() == {treasury["address"]: (None, []), holder["address"]: (True, [])}
    stricter = await firm.patch(path, {"required_kyc_level": 3})
    await firm.succeed(stricter["requestId"])
    found = await verdicts()
    assert found[treasury["address"]] == (None, [])
    eligible, reasons = found[holder["address"]]
    assert eligible is False
    assert ["3 is required" in reason for reason in reasons] == [True]


def largest_remainder(amounts: list[int]) -> list[int]:
    """Return the shares in hundredths of a percent, computed with fractions."""
    exact = [Fraction(10_000 * amount, sum(amounts)) for amount in amounts]
    shares = [int(share) for share in exact]
    for n in sorted(range(len(exact)), key=lambda n: (shares[n] - exact[n], -amounts[n], n))[: 10_000 - sum(shares)]:
        shares[n] += 1
    return shares


async def test_shares_of_any_balances_add_up_and_differ_by_less_than_a_hundredth_of_a_percent(world: World) -> None:
    dice = random.Random(13)
    query = sa.text(f"""
      with owned as (
        select 1 as chain_eid, lpad(n::text, 8, '0') as address, cast(amount as numeric) as balance,
               cast(0 as numeric) as escrowed
        from unnest(cast(:amounts as text[])) with ordinality as a (amount, n)
      ), {SHARES} select share_bps from shares order by address
    """)
    async with db.worker() as session:
        for _ in range(60):
            size, most = dice.choice([1, 2, 3, 7, 40, 300]), dice.choice([1, 3, 10**6, 10**18, 2**200])
            amounts = [dice.randint(1, most) for _ in range(size)]
            found = [int(n) for n in await session.scalars(query, {"amounts": [str(a) for a in amounts]})]
            assert sum(found) == 10_000
            assert found == largest_remainder(amounts)
            assert all(abs(n - Fraction(10_000 * a, sum(amounts))) < 1 for n, a in zip(found, amounts, strict=True))
