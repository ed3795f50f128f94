"""Whom the dialog of "Unfreeze" lists."""

from backend.assets.schemas import Holder
from state.controls.freeze_many import FREEZE, UNFREEZE, omitted
from state.controls.frozen import FrozenHolders, frozen_holders

UNIT = 10**18
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


def holder(name: str | None, frozen: str | None, eid: int = 1, *, whole: bool = False) -> Holder:
    return Holder(
        address=ADDRESS, chain_eid=eid, name=name, balance=str(9 * UNIT), frozen=frozen, party_id=None, party_name=None,
        is_treasury=False, wholly_frozen=None if frozen is None else whole,
    )  # fmt: skip


def test_frozen_holders_of_the_chain_are_listed_with_their_amounts() -> None:
    holders = [
        holder("Alder", str(9 * UNIT), whole=True), holder("Ilves", "0", whole=True),
        holder(None, str(5 * UNIT)), holder("Free", "0"), holder("Else", "7", 2),
    ]  # fmt: skip
    found = frozen_holders(holders, "1", "NREF", 18, is_all=True)
    assert found == FrozenHolders(["Alder, the whole account", "Ilves, the whole account", "0x5290…9EE7, 5 NREF"])


def test_chain_without_frozen_holders_says_so() -> None:
    one, silent = [holder("Free", "0")], [holder("Free", None)]
    said = frozen_holders(one, "1", "N", 18, is_all=True).none
    none = "No holder on this chain has frozen tokens. An account without tokens can still be frozen"
    assert said == f"{none}: enter its address to unfreeze it."
    assert frozen_holders(one, "1", "N", 18, is_all=False).none.startswith("None of the 100 largest holders")
    assert frozen_holders(silent, "1", "N", 18, is_all=True).none.startswith("The chain does not respond")


def test_marked_holders_without_a_request_are_named_with_the_reason() -> None:
    assert omitted([], FREEZE) == ""
    assert omitted(["Treasury"], FREEZE) == "Treasury is not included: the treasury and contracts cannot be frozen."
    assert omitted(["Alder", "Ilves"], UNFREEZE) == (
        "2 of the selected rows are not included: only holders with frozen tokens can be unfrozen."
    )
