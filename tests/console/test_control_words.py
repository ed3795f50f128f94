"""How the controls' dialogs convert input and show the plan."""

import pytest

from backend.compliance.schemas import Resolution, RuleVerdict
from backend.controls.schemas import Change
from state.assets.detail import AssetDetail, DeploymentView
from state.compliance.verdicts import Terms, verdicts_of
from state.controls.controls import CONTROLS, _change_words, _missing, _unconfirmed

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
PLACE = DeploymentView(40161, "Sepolia", ADDRESS, "", "active", "", "", "1", False)
ASSET = AssetDetail(id="a", symbol="HF", decimals=6, places=[PLACE])


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
def test_control_form_reports_missing_fields(kind: str, given: dict[str, str], fields: set[str]) -> None:
    assert set(_missing(CONTROLS[kind], given, 6)) == fields


def test_dangerous_control_is_confirmed_by_the_symbol() -> None:
    said = {"reason": "Order 12", "symbol": "hf"}
    assert _unconfirmed(CONTROLS["burn"], said, ASSET) == {"symbol": "Type HF to confirm"}
    assert _unconfirmed(CONTROLS["mint"], said, ASSET) == {}
    assert set(_unconfirmed(CONTROLS["pause"], {"reason": "", "symbol": "HF"}, ASSET)) == {"reason"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("supply", None, "0", "1500000"), ("Total supply, Sepolia", "0 HF", "1.5 HF")),
        (("balance", ADDRESS, "1", "0"), ("Balance, 0x5290…9EE7", "0.000001 HF", "0 HF")),
        (("frozen", ADDRESS, "0", str(2**256 - 1)), ("Frozen, 0x5290…9EE7", "0 HF", "the whole account")),
        (("state", None, "active", "paused"), ("Token, Sepolia", "Active", "Paused")),
    ],
)
def test_control_change_is_shown_in_whole_tokens(
    change: tuple[str, str | None, str, str], words: tuple[str, ...]
) -> None:
    field, address, before, after = change
    shown = _change_words(Change(chain_eid=40161, field=field, address=address, before=before, after=after), ASSET)
    assert (shown["name"], shown["old"], shown["new"]) == words


@pytest.mark.parametrize("act", ["unpause", "unfreeze"])
def test_rule_resolved_by_a_control_links_to_it(act: str) -> None:
    path = f"/orgs/o/assets/a/{act}"
    fix = {"method": "POST", "path": path, "href": f"https://signum.example/v1{path}", "description": "x"}
    rule = RuleVerdict(
        rule="paused", passed=False, code=1, reason="The token is paused.", resolution=Resolution.model_validate(fix)
    )
    assert verdicts_of([rule], Terms("o", "a", "HF", 6))[0].href == "/o/o/assets/a?tab=controls"


def test_fix_of_a_receiver_without_attestation_leads_to_its_party() -> None:
    resolution = {"method": "POST", "path": "/orgs/o/attestations", "href": None, "description": "Attest it."}
    receiver, sender = (
        RuleVerdict.model_validate(
            {"rule": "attestation", "passed": False, "code": code, "reason": "No.", "resolution": resolution}
        )
        for code in (8, 7)
    )
    terms = Terms("o", "a", "HF", 6, receiver=ADDRESS)
    assert verdicts_of([receiver], terms)[0].href == f"/o/o/parties?q={ADDRESS}"
    assert verdicts_of([sender], terms)[0].href == "/o/o/attestations"
    assert verdicts_of([receiver], Terms("o", "a", "HF", 6))[0].href == "/o/o/attestations"
