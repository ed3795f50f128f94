"""What a field for an account says about an entered address."""

from typing import Any
from uuid import UUID

import pytest

from backend.accounts.schemas import Account, AccountList
from backend.users.schemas import MemberStatus
from backend.wallets.schemas import AddressKind
from state.core.holder_picker import entered, marked, name_of

KESTREL = "0x52908400098527886E0F7030069857D2E4169EE7"
ZERO = "0x" + "0" * 40


def _found(eligible: bool | None = True, balance: str | None = "2500000000000000000") -> AccountList:
    account = Account(
        address=KESTREL, kind=AddressKind.PARTY, name="Kestrel Pension Trust", wallet_id=None, party_id=UUID(int=1),
        balance=balance, quote_balance=None, eligible=eligible, reasons=[], last_used_at=None,
    )  # fmt: skip
    return AccountList(accounts=[account], has_more=False, symbol="NREF", decimals=18)


@pytest.mark.parametrize("written", [KESTREL, KESTREL.lower(), "0x" + KESTREL[2:].upper()])
def test_entered_address_of_a_known_account_is_named_with_its_facts(written: str) -> None:
    item = entered(written, _found())
    assert (item["id"], item["label"], item["hint"], item["note"], item["known"]) == (
        KESTREL, "Kestrel Pension Trust", "holds 2.5 NREF", "Eligible", True,
    )  # fmt: skip
    assert entered(written, _found(eligible=False))["note"] == "Not eligible"
    assert entered(written, _found(eligible=None, balance=None))["note"] == ""


@pytest.mark.parametrize(
    ("address", "note", "is_refused"),
    [
        ("0x8617e340b3d01fa5f11f306f4090fd50e238070d", "Not known here", False),
        ("0x8617E340B3D01FA5F11F306F4090FD50E238070d", "Wrong checksum: check for a typo", True),
        ("0x52908400098527886E0F7030069857D2E4169Ee7", "Wrong checksum: check for a typo", True),
        (ZERO, "The zero address", False),
    ],
)
def test_entered_address_that_is_not_known_has_to_be_confirmed(address: str, note: str, is_refused: bool) -> None:
    item = entered(address, _found())
    assert (item["id"], item["note"], item["off"], item["known"]) == (address, note, is_refused, False)


async def test_name_of_an_address_is_found_or_empty() -> None:
    class Api:
        async def search_accounts(self, org_id: str, *, q: str) -> AccountList:
            return _found()

    api: Any = Api()
    assert await name_of(api, "", KESTREL.lower()) == "Kestrel Pension Trust"
    assert await name_of(api, "", ZERO) == ""
    assert await name_of(api, "", "") == ""


@pytest.mark.parametrize(
    ("status", "note", "is_refused"),
    [
        (MemberStatus.ACTIVE, "Already a member", True),
        (MemberStatus.PENDING, "Has not accepted yet", True),
        (MemberStatus.INACTIVE, "Eligible", False),
    ],
)
def test_account_of_a_member_cannot_be_chosen(status: MemberStatus, note: str, is_refused: bool) -> None:
    item = marked(entered(KESTREL, _found()), {KESTREL.lower(): status})
    assert (item["note"], item["off"]) == (note, is_refused)
    assert marked(entered(KESTREL, _found()), {})["off"] is False
