"""What the controls' dialogs make of what is written, and of the plan."""

import pytest

from state.asset import AssetView, Place
from state.controls import CONTROLS, _change, _missing, _unsaid
from state.verdicts import Terms, verdicts_of

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
ASSET = AssetView(
    id="a", symbol="HF", decimals=6, places=[Place(40161, "Sepolia", ADDRESS, "", "active", "", "", "1", False)]
)


@pytest.mark.parametrize(
    ("kind", "given", "fields"),
    [
        ("mint", {}, {"chain_eid", "to_address", "amount"}),
        ("mint", {"chain_eid": "40161", "to_address": ADDRESS, "amount": "1,000.5"}, set()),
        ("mint", {"chain_eid": "x", "to_address": "0x1", "amount": "1.1234567"}, {"chain_eid", "to_address", "amount"}),
        ("freeze", {"chain_eid": "40161", "address": ADDRESS}, set()),
        ("freeze", {"chain_eid": "40161", "address": ADDRESS, "amount": "-1"}, {"amount"}),
        ("burn", {"chain_eid": "40161", "address": ADDRESS}, {"amount"}),
        ("pause", {"chain_eid": "40161"}, set()),
        ("recover", {"chain_eid": "40161", "lost_address": ADDRESS}, {"new_address"}),
    ],
)
def test_what_is_missing(kind: str, given: dict[str, str], fields: set[str]) -> None:
    assert set(_missing(CONTROLS[kind], given, 6)) == fields


def test_danger_is_confirmed_by_the_symbol() -> None:
    said = {"reason": "Order 12", "symbol": "hf"}
    assert _unsaid(CONTROLS["burn"], said, ASSET) == {"symbol": "Type HF to confirm"}
    assert _unsaid(CONTROLS["mint"], said, ASSET) == {}
    assert set(_unsaid(CONTROLS["pause"], {"reason": "", "symbol": "HF"}, ASSET)) == {"reason"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("supply", None, "0", "1500000"), ("Total supply, Sepolia", "0 HF", "1.5 HF")),
        (("balance", ADDRESS, "1", "0"), ("Balance, 0x5290…9EE7", "0.000001 HF", "0 HF")),
        (("frozen", ADDRESS, "0", str(2**256 - 1)), ("Frozen, 0x5290…9EE7", "0 HF", "the whole account")),
        (("state", None, "moving", "paused"), ("Token, Sepolia", "Moving", "Paused")),
    ],
)
def test_a_change_is_said_in_whole_tokens(change: tuple[str, str | None, str, str], words: tuple[str, ...]) -> None:
    field, address, before, after = change
    told = _change({"chain_eid": 40161, "field": field, "address": address, "before": before, "after": after}, ASSET)
    assert (told["name"], told["old"], told["new"]) == words


@pytest.mark.parametrize("act", ["unpause", "unfreeze"])
def test_what_a_control_puts_right_leads_to_it(act: str) -> None:
    fix = {"method": "POST", "path": f"/v1/orgs/o/assets/a/{act}", "description": "x"}
    rule = {"rule": "paused", "passed": False, "code": 1, "reason": "The token is paused.", "resolution": fix}
    assert verdicts_of([rule], Terms("o", "a", "HF", 6))[0].href == "/o/o/assets/a?tab=controls"
