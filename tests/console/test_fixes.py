"""The next step after a failed request, as pages offer it."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from backend.auth.scopes import Scope
from backend.chain.errors import Reverted
from backend.failures import rules
from backend.failures.rules import Person, Place
from backend.notifications.schemas import Notification, NotificationKind
from backend.requests.schemas import Request, RequestStatus, Subject
from state.notifications.views import notification_view
from state.requests.fixes import Fix, asset_of, fix_of, values_of
from state.requests.views import request_view

ORGANIZATION, ASSET, PARTY, BRIDGE = uuid4(), uuid4(), uuid4(), uuid4()
PLACE = Place(ORGANIZATION, ASSET, "NREF", 40161, {40161: "Sepolia", 40245: "Base"})
ALDER = Person("0x52908400098527886E0F7030069857D2E4169EE7", "Alder Family Office", PARTY)
HOME = f"/o/{ORGANIZATION}"


def failed(resolution: dict[str, Any] | None, detail: str = "It was refused.", title: str = "Transfer") -> Request:
    problem = {"title": "Conflict", "detail": detail} | ({"resolution": resolution} if resolution else {})
    now = datetime(2026, 7, 1, tzinfo=UTC)
    return Request(
        id=UUID(int=1), organization_id=ORGANIZATION, kind="transfer.send", title=title, scope=Scope.TRANSFERS_WRITE,
        status=RequestStatus.FAILED, subject=Subject(type="transfer", id=UUID(int=2)), steps=[], problem=problem,
        can_retry=True, created_by=None, created_at=now, updated_at=now,
    )  # fmt: skip


def of_code(code: int, person: Person | None = ALDER) -> Fix:
    return fix_of(failed(rules.resolution(Reverted("No.", code=code), PLACE, person)))


def test_attestation_pause_and_freeze_are_resolved_in_a_dialog() -> None:
    found = {code: of_code(code) for code in (1, 5, 7, 9, 33)}
    assert {code: (fix.kind, fix.scope) for code, fix in found.items()} == {
        1: ("unpause", Scope.ASSETS_WRITE),
        5: ("unfreeze", Scope.ASSETS_WRITE),
        7: ("attest", Scope.ATTESTATIONS_WRITE),
        9: ("attest", Scope.ATTESTATIONS_WRITE),
        33: ("attest", Scope.ATTESTATIONS_WRITE),
    }
    assert found[9].label == "Attest Alder Family Office on Sepolia"
    path = rules.resolution(Reverted("No.", name="PathPaused", arguments={"eid": 40245}), PLACE, None)
    assert fix_of(failed(path)).kind == "unpause-path"


def test_other_steps_are_links_to_their_page() -> None:
    assert of_code(9, Person(ALDER.address)).href == f"{HOME}/parties", "an account without a party"
    assert of_code(11).href == f"{HOME}/parties?id={PARTY}"
    assert of_code(14).href == f"{HOME}/assets/{ASSET}?tab=compliance"
    bridge = fix_of(failed(rules.of_bridge(ORGANIZATION, BRIDGE)))
    assert (bridge.kind, bridge.label, bridge.href) == ("link", "Open the bridge", f"{HOME}/bridges?id={BRIDGE}")
    assert bridge.scope == "", "everyone may read a bridge"
    assert of_code(14).scope == Scope.ASSETS_WRITE
    limit = rules.resolution(Reverted("No.", name="PathLimited", arguments={"eid": 40245}), PLACE, None)
    assert fix_of(failed(limit)).href == f"{HOME}/assets/{ASSET}?tab=chains"


def test_rule_without_a_call_is_explained_in_words() -> None:
    assert of_code(32) == Fix(words="Wait until the market resumes.")
    assert fix_of(failed(None)) == Fix()
    assert fix_of(failed({"method": "GET", "path": "/elsewhere", "title": "Look"})).kind == ""


def test_toast_links_to_the_step_or_to_the_request_with_its_dialog() -> None:
    attest = request_view(failed(rules.resolution(Reverted("No.", code=9), PLACE, ALDER)))
    assert attest.fix_href == f"{HOME}/requests?id={UUID(int=1)}&fix=1"
    assert request_view(failed(rules.of_bridge(ORGANIZATION, BRIDGE))).fix_href == f"{HOME}/bridges?id={BRIDGE}"
    assert request_view(failed(None)).fix_href == ""


def test_call_names_its_asset_and_known_values_only() -> None:
    unfreeze = rules.resolution(Reverted("No.", code=5), PLACE, ALDER)
    assert unfreeze is not None
    assert asset_of(unfreeze) == str(ASSET)
    assert values_of(unfreeze) == {"chain_eid": 40161, "address": ALDER.address}
    assert asset_of({"path": "/assets/../../auth/me"}) == ""


def test_texts_have_short_addresses_and_amounts_with_the_whole_ones_beside_them() -> None:
    detail = f"{ALDER.address} holds 1.123456789012 NREF."
    view = request_view(failed(None, detail, "Transfer 0.1234567891 NREF"))
    assert view.problem == "0x5290…9EE7 holds 1.12 NREF."
    assert view.problem_full == detail
    assert (view.title, view.title_full) == ("Transfer 0.123456 NREF", "Transfer 0.1234567891 NREF")


def test_case_of_a_revoked_party_is_a_link() -> None:
    revoked = Person(ALDER.address, ALDER.name, PARTY, is_revoked=True)
    fix = of_code(9, revoked)
    assert (fix.kind, fix.label, fix.href) == (
        "link",
        "Review the case of Alder Family Office",
        f"{HOME}/parties?id={PARTY}",
    )


def test_notification_of_a_failure_offers_the_step_that_removes_its_cause() -> None:
    def shown(resolution: dict[str, Any] | None) -> tuple[str, str, str]:
        data = Notification(
            kind=NotificationKind.REQUEST, title="Transfer failed", subject_id=UUID(int=1), at=datetime.now(UTC),
            scope=Scope.TRANSFERS_WRITE, can_retry=True, resolution=resolution,
        )  # fmt: skip
        view = notification_view(data, f"{HOME}/")
        return view.fix, view.fix_href, view.fix_scope

    attest = rules.resolution(Reverted("No.", code=9), PLACE, ALDER)
    dialog = f"{HOME}/requests?id={UUID(int=1)}&fix=1"
    assert shown(attest) == ("Attest Alder Family Office on Sepolia", dialog, Scope.ATTESTATIONS_WRITE)
    unknown = rules.resolution(Reverted("No.", code=9), PLACE, Person(ALDER.address))
    label, href, scope = shown(unknown)
    assert (label[:9], href, scope) == ("Register ", f"{HOME}/parties", Scope.ATTESTATIONS_WRITE)
    assert shown(rules.resolution(Reverted("No.", code=32), PLACE, None)) == ("", "", "")
    assert shown(None) == ("", "", "")
