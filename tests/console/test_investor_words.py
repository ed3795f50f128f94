"""Sentences of the investor's home."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from backend.core.db import new_id
from backend.investors.schemas import InvestorEligibility, InvestorOrder, RefusedRule
from state.investor.words import order, verdict

ASSET = UUID(int=7)
END = datetime(2027, 3, 14, 12, tzinfo=UTC)


def place(chain: str = "Sepolia", **more: Any) -> InvestorEligibility:
    known = {
        "asset_id": ASSET, "name": "Harbour Fund", "symbol": "NREF", "chain_eid": 40161, "chain_name": chain,
        "address": "0x52908400098527886E0F7030069857D2E4169EE7", "eligible": True, "is_held": True,
        "is_attested_here": True, "kyc_level": 2, "required_kyc_level": 1, "requires_accreditation": False,
        "valid_until": None, "refusals": [],
    }  # fmt: skip
    return InvestorEligibility.model_validate(known | more)


def refused(code: int) -> dict[str, Any]:
    return {"eligible": False, "refusals": [RefusedRule(rule="attestation", code=code, reason="The reason.")]}


def test_eligible_investor_reads_until_when_and_what_to_do() -> None:
    assert verdict([place(valid_until=END)], "Northwind") == (
        "ok",
        "Verified until 14 March 2027 by Northwind. Level 1 is required.",
        "Ask Northwind to renew it before then.",
    )


def test_investor_attested_by_another_organization_reads_no_issuer() -> None:
    found = verdict([place(is_attested_here=False, required_kyc_level=0)], "Northwind")
    assert found == ("ok", "Verified. No level is required.", "")


def test_refused_investor_reads_the_next_step() -> None:
    tone, sentence, step = verdict([place(**refused(9))], "Northwind")
    assert (tone, sentence) == ("bad", "You may not hold NREF now.")
    assert step == "Northwind has to attest your wallet on Sepolia. Contact them."
    assert verdict([place(**refused(99))], "Northwind")[2] == "The reason."


def test_investor_who_is_eligible_on_one_chain_only_reads_which() -> None:
    tone, sentence, _ = verdict([place(), place("Base", **refused(9))], "Northwind")
    assert (tone, sentence.endswith("You may hold NREF on Sepolia only.")) == ("warn", True)


def test_partly_filled_order_names_the_open_part() -> None:
    row = InvestorOrder.model_validate(
        {
            "id": new_id(), "asset_id": ASSET, "market_id": ASSET, "symbol": "NREF", "decimals": 18,
            "quote_symbol": "tUSD", "quote_decimals": 6, "chain_eid": 1, "chain_name": "Sepolia", "side": "sell",
            "status": "partial", "price": "102000000", "amount": str(10**19), "filled": str(4 * 10**18),
            "maker_address": "0x52908400098527886E0F7030069857D2E4169EE7", "blocked_reason": None, "created_at": END,
        }
    )  # fmt: skip
    assert order(row) == "Sell 6 of 10 NREF at 102 tUSD"
