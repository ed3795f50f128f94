"""Sentences of the investor's home."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from backend.core.db import new_id
from backend.investors.schemas import InvestorEligibility, InvestorOrder, RefusedRule
from state.investor.words import Reader, Verdict, order, refusals, verdict

ASSET = UUID(int=7)
END = datetime(2027, 3, 14, 12, tzinfo=UTC)
UPLOAD = "Upload documents for a new review. Northwind can tell you which it needs."
READER = Reader("Northwind", level=2, now=END - timedelta(days=91))


def place(chain: str = "Sepolia", **more: Any) -> InvestorEligibility:
    known = {
        "asset_id": ASSET, "name": "Harbour Fund", "symbol": "NREF", "chain_eid": 40161, "chain_name": chain,
        "address": "0x52908400098527886E0F7030069857D2E4169EE7", "eligible": True, "is_held": True,
        "is_attested_here": True, "kyc_level": 2, "required_kyc_level": 1, "requires_accreditation": False,
        "valid_until": None, "lapse": None, "lapsed_at": None, "refusals": [],
    }  # fmt: skip
    return InvestorEligibility.model_validate(known | more)


def refused(code: int) -> dict[str, Any]:
    return {"eligible": False, "refusals": [RefusedRule(rule="attestation", code=code, reason="The reason.")]}


def test_eligible_investor_reads_until_when_and_what_to_do() -> None:
    sentence = "Verified until 14 March 2027 by Northwind. You have level 2; NREF needs level 1."
    assert verdict([place(valid_until=END)], READER) == Verdict("ok", sentence, "")
    soon = Reader("Northwind", level=2, now=END - timedelta(days=90))
    assert verdict([place(valid_until=END)], soon).next_step == "Ask Northwind to renew it before then."


def test_investor_attested_by_another_organization_reads_no_issuer() -> None:
    found = verdict([place(is_attested_here=False, required_kyc_level=0)], READER)
    assert found == Verdict("ok", "Verified. No level is required.", "")


@pytest.mark.parametrize(
    ("facts", "sentence", "step"),
    [
        (
            refused(9),
            "Northwind has not verified you yet",
            "Northwind needs documents to verify you, such as a passport and proof of address.",
        ),
        (
            refused(9) | {"lapse": "expired", "lapsed_at": END},
            "your verification expired on 14 March 2027",
            "Ask Northwind to renew it.",
        ),
        (
            refused(10) | {"lapse": "revoked", "lapsed_at": END},
            "Northwind withdrew your verification",
            "Contact Northwind to find out why.",
        ),
        (
            refused(11) | {"kyc_level": 1, "required_kyc_level": 3},
            "you have level 1, and NREF needs level 3",
            UPLOAD,
        ),
        (refused(13), "investors of your country may not hold it", ""),
    ],
)
def test_refused_investor_reads_why_and_the_next_step(facts: dict[str, Any], sentence: str, step: str) -> None:
    found = verdict([place(is_held=False, is_attested_here=False, **facts)], READER)
    uploads = "documents" in step
    assert found == Verdict("off", f"You may not hold NREF now, because {sentence}.", step, uploads=uploads)


def test_holder_who_is_no_longer_verified_reads_that_the_tokens_stay() -> None:
    ended = place(is_attested_here=False, **refused(9), lapse="revoked", lapsed_at=END)
    assert verdict([ended], READER) == Verdict(
        "bad",
        "You may not buy or sell NREF now, because Northwind withdrew your verification.",
        "Contact Northwind to find out why. Your tokens stay in your wallet.",
    )


def test_verified_investor_reads_that_the_verification_does_not_cover_an_asset() -> None:
    other = place("Base", is_held=False, is_attested_here=False, **refused(9))
    found = verdict([other], READER, [place(), other])
    assert found.sentence == "You may not hold NREF now, because Northwind has not recorded your verification for it."
    assert found.next_step == (
        "You have level 2; NREF needs level 1, which is enough. Northwind can record it for this asset too."
    )
    assert not found.uploads


def test_investor_whose_level_is_too_low_for_another_asset_reads_both_levels() -> None:
    needs = {"required_kyc_level": 3, "requires_accreditation": True}
    other = place("Base", is_held=False, is_attested_here=False, **refused(9), **needs, kyc_level=0)
    found = verdict([other], READER, [place(), other])
    assert found.sentence == (
        "You may not hold NREF now, because you have level 2, and NREF needs level 3 and accreditation."
    )
    assert (found.next_step, found.uploads) == (UPLOAD, True)


def test_revoked_investor_reads_so_at_every_asset() -> None:
    ended = place(is_attested_here=False, **refused(9), lapse="revoked", lapsed_at=END)
    other = place("Base", is_held=False, is_attested_here=False, **refused(9))
    found = verdict([other], READER, [ended, other])
    assert found.sentence == "You may not hold NREF now, because Northwind withdrew your verification."


def test_refusal_without_words_of_its_own_reads_the_rules_reason() -> None:
    found = verdict([place(is_held=False, **refused(99))], READER)
    assert found == Verdict("off", "You may not hold NREF now.", "The reason.")


def test_investor_who_is_eligible_on_one_chain_only_reads_which() -> None:
    found = verdict([place(), place("Base", **refused(9))], READER)
    assert (found.tone, found.where) == ("warn", "You may hold NREF on Sepolia only.")


def test_investor_with_one_wallet_of_two_verified_reads_which() -> None:
    other = place(address="0x8617E340B3D01FA5F11F306F4090FD50E238070D", **refused(9))
    found = verdict([place(), other], READER)
    assert (found.tone, found.where) == ("warn", "You may hold NREF in your wallet 0x5290…9EE7 only.")


def test_refused_order_reads_no_base_units_and_no_unix_time() -> None:
    found = [
        RefusedRule(rule="lockup", code=code, reason="Locked. It ends at Unix time 1805025600.") for code in (6, 37)
    ]
    found.append(RefusedRule(rule="max_per_holder", code=39, reason="Too many. 2000000000000000000 base units."))
    assert refusals(found, "Northwind") == [
        "You may sell from 14 March 2027, when the lock-up ends.",
        "You would hold more than one investor may hold. Enter a smaller amount.",
    ]


def test_partly_filled_order_names_the_open_part() -> None:
    row = InvestorOrder.model_validate(
        {
            "id": new_id(), "asset_id": ASSET, "market_id": ASSET, "symbol": "NREF", "decimals": 18,
            "quote_symbol": "tUSD", "quote_decimals": 6, "chain_eid": 1, "chain_name": "Sepolia", "side": "sell",
            "status": "partial", "price": "102000000", "amount": str(10**19), "filled": str(4 * 10**18),
            "maker_address": "0x52908400098527886E0F7030069857D2E4169EE7", "blocked_reason": None, "created_at": END,
        }
    )  # fmt: skip
    assert order(row) == "Sell 6 of 10 NREF at 102.00 tUSD"
