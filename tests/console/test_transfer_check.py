"""The form of the transfer check: what is missing or invalid is said at its field."""

import pytest

from state.assets.detail import AssetState
from state.compliance.transfer_check import TransferCheckState
from state.core.holder_picker import HolderPicker
from state.distributions.proof import ProofFinder
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

pytestmark = pytest.mark.usefixtures("api")
SUBMIT = f"{TransferCheckState.get_full_name()}.submit"
ACCOUNT = "Choose an account, or enter an address"


def miscased(address: str) -> str:
    """Return an address with one letter in the other case."""
    at = next(i for i, digit in enumerate(address) if digit.isalpha() and i > 1)
    return address[:at] + address[at].swapcase() + address[at + 1 :]


async def test_transfer_check_without_a_valid_amount_says_so_at_the_field(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), (await firm.treasury())["address"]
    given = {"check_chain": str(SEPOLIA), "from_address": treasury, "to_address": treasury}
    async with connected() as socket:
        tab = await tab_of(firm, socket, f"assets/{asset['id']}", asset_id=asset["id"])
        await tab.send(f"{AssetState.get_full_name()}.load", {})

        async def errors(**more: str) -> tuple[dict[str, str], bool]:
            await tab.send(SUBMIT, {"data": given | more})
            return tab.value(TransferCheckState, "errors"), tab.value(TransferCheckState, "answered")

        assert await errors(amount="0") == ({"amount": "Enter a number above 0"}, False)
        for amount in ("", "x", "0." + "1" * 19):
            said, answered = await errors(amount=amount)
            assert (list(said), answered) == (["amount"], False), amount
        assert await errors(amount="1", to_address="", from_address="") == (
            {"from_address": ACCOUNT, "to_address": ACCOUNT}, False,
        )  # fmt: skip
        wrong = "Has a wrong EIP-55 checksum; check for a typo, or send it in lower case"
        assert await errors(amount="1", to_address=miscased(treasury)) == ({"to_address": wrong}, False)
        assert await errors(amount="1") == ({}, True)
        assert socket.failures == []


async def test_known_address_with_a_wrong_checksum_is_not_taken_for_the_account(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    address = (await firm.treasury())["address"]
    async with connected() as socket:
        tab = await tab_of(firm, socket, "transfers")
        for text in (address, miscased(address)):
            await tab.send(f"{HolderPicker.get_full_name()}.resolve", {"asset_id": "", "eid": "", "text": text})
        known = tab.value(HolderPicker, "resolved")
        assert (known[address]["known"], known[miscased(address)]["off"]) == (True, True)
        await tab.send(f"{ProofFinder.get_full_name()}.find", {"data": {"address": miscased(address)}})
        assert tab.value(ProofFinder, "errors") == {"address": "Wrong checksum: check for a typo"}
        assert socket.failures == []
