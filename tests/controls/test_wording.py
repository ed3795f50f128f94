"""Words of controls: a plan says what will happen, a step what has happened; amounts are whole tokens."""

from collections.abc import Mapping
from typing import Any

import pytest

from backend.controls.calls import LABELS
from backend.controls.wording import Wording
from backend.core.fields import MAX_UINT256
from tests.support.firm import BASE, SEPOLIA

KESTREL, ALDER = "0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
WORDS = Wording(
    "NREF", 18, {KESTREL: "Kestrel Pension Trust", ALDER: 'wallet "Treasury"'}, {SEPOLIA: "Sepolia", BASE: "Base"}
)
AMOUNT = {"amount": str(120 * 10**18 + 1)}
ENDS = {"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE}
PART = "120.000000000000000001 NREF"
PLANNED: Mapping[str, list[tuple[dict[str, Any], str]]] = {
    "minted": [({"to_address": KESTREL} | AMOUNT, f"Mint {PART} to Kestrel Pension Trust")],
    "taken": [({"address": KESTREL} | AMOUNT, f"Take {PART} from Kestrel Pension Trust")],
    "burned": [({"address": ALDER} | AMOUNT, f'Burn {PART} of wallet "Treasury"')],
    "paused": [({"chain_eid": None}, "Pause NREF")],
    "unpaused": [({"chain_eid": SEPOLIA}, "Unpause NREF")],
    "frozen": [
        ({"address": KESTREL} | AMOUNT, f"Freeze {PART} of Kestrel Pension Trust"),
        ({"address": KESTREL, "amount": None}, "Freeze the whole account of Kestrel Pension Trust"),
    ],
    "unfrozen": [
        ({"address": KESTREL} | AMOUNT, f"Unfreeze {PART} of Kestrel Pension Trust"),
        ({"address": KESTREL, "amount": None}, "Unfreeze everything of Kestrel Pension Trust"),
    ],
    "moved": [
        (
            {"from_address": KESTREL, "to_address": ALDER} | AMOUNT,
            f'Move {PART} from Kestrel Pension Trust to wallet "Treasury"',
        )
    ],
    "recovered": [
        (
            {"lost_address": KESTREL, "new_address": ALDER},
            'Move everything from Kestrel Pension Trust to wallet "Treasury"',
        )
    ],
    "path_paused": [(ENDS, "Pause the bridge path to Base")],
    "path_unpaused": [(ENDS, "Resume the bridge path to Base")],
    "path_limited": [
        (ENDS | AMOUNT | {"window_seconds": 3_600}, f"Limit the bridge path to Base to {PART} in an hour"),
        (ENDS | {"amount": "0", "window_seconds": 3_600}, "Remove the limit of the bridge path to Base"),
    ],
}


def test_plan_of_every_control_is_in_the_future_tense() -> None:
    assert PLANNED.keys() == LABELS.keys()
    for act, cases in PLANNED.items():
        for arguments, expected in cases:
            said = WORDS.planned(act, SEPOLIA, arguments)
            assert said == expected
            assert not said.split()[0].endswith("ed"), said


TITLES: list[tuple[list[str], dict[str, Any], str]] = [
    (["minted"], {"to_address": KESTREL} | AMOUNT, f"Mint {PART} to Kestrel Pension Trust"),
    (["taken", "burned"], {"address": KESTREL} | AMOUNT, f"Burn {PART} of Kestrel Pension Trust"),
    (["frozen"], {"address": KESTREL, "amount": None}, "Freeze all NREF of Kestrel Pension Trust"),
    (["unfrozen"], {"address": KESTREL, "amount": None}, "Unfreeze all NREF of Kestrel Pension Trust"),
    (["frozen"], {"address": KESTREL} | AMOUNT, f"Freeze {PART} of Kestrel Pension Trust"),
    (
        ["moved"],
        {"from_address": KESTREL, "to_address": "0x" + "ab" * 20} | AMOUNT,
        f"Forced transfer of {PART} from Kestrel Pension Trust to 0xabab…abab",
    ),
    (
        ["recovered"],
        {"lost_address": KESTREL, "new_address": "0x" + "ab" * 20},
        "Recover NREF from Kestrel Pension Trust to 0xabab…abab",
    ),
    (["paused"], {"chain_eid": None}, "Pause NREF on Sepolia and Base"),
    (["path_limited"], ENDS | AMOUNT, "Limit the bridge path of NREF on Sepolia and Base"),
]


@pytest.mark.parametrize(("acts", "arguments", "expected"), TITLES)
def test_title_of_a_control_names_the_accounts(acts: list[str], arguments: dict[str, Any], expected: str) -> None:
    assert WORDS.shortened().title(acts, [SEPOLIA, BASE], arguments) == expected


def test_step_of_a_control_says_what_it_will_do_and_where() -> None:
    moving = {"from_address": KESTREL, "to_address": ALDER} | AMOUNT
    said = WORDS.shortened().step("moved", BASE, moving)
    assert said == f'Move {PART} from Kestrel Pension Trust to wallet "Treasury" on Base'
    assert WORDS.step("path_paused", SEPOLIA, ENDS) == "Pause the bridge path to Base"


@pytest.mark.parametrize(
    ("act", "event", "expected"),
    [
        ("minted", {"value": 5 * 10**18}, "5 NREF minted."),
        ("moved", {"amount": 10**18, "from": KESTREL, "to": ALDER},
         '1 NREF moved from Kestrel Pension Trust to wallet "Treasury".'),
        ("frozen", {"account": KESTREL, "amount": 10**17}, "0.1 NREF of Kestrel Pension Trust are frozen."),
        ("frozen", {"account": ALDER, "amount": MAX_UINT256}, 'The whole account of wallet "Treasury" is frozen.'),
        ("path_limited", {"limit": 50 * 10**18, "window": 86_400}, "Limit: 50 NREF in a day."),
        ("path_paused", {"paused": True}, "The path is paused."),
    ],
)  # fmt: skip
def test_finished_control_is_told_in_whole_tokens_and_names(act: str, event: dict[str, Any], expected: str) -> None:
    assert WORDS.done(act, event) == expected


def test_account_without_a_name_is_called_by_its_whole_address() -> None:
    unknown = "0x" + "ab" * 20
    assert WORDS.planned("minted", SEPOLIA, {"to_address": unknown, "amount": "0"}) == f"Mint 0 NREF to {unknown}"
