"""How the console names a recipient: the party or wallet first, what it is as secondary text."""

import pytest

from backend.distributions.schemas import Entitlement
from state.distributions.check import named


@pytest.mark.parametrize(
    ("words", "party", "label", "name", "wallet"),
    [
        ('own wallet "Custody", party Kestrel', "Kestrel", "Custody", "Kestrel", 'wallet "Custody"'),
        ('own wallet "Kestrel custody", party Kestrel', "Kestrel", "Kestrel custody", "Kestrel", ""),
        ("party Marta", "Marta", None, "Marta", ""),
        ('own wallet "Treasury"', None, "Treasury", "Treasury", "own wallet"),
        ('linked wallet "Cold", whose key Signum does not hold', None, "Cold", "Cold", "linked wallet"),
        ('distribution "Q3"', None, None, 'Distribution "Q3"', ""),
        ("unknown wallet", None, None, "Unknown wallet", ""),
    ],
)  # fmt: skip
def test_recipient_is_named_before_its_wallet(
    words: str, party: str | None, label: str | None, name: str, wallet: str
) -> None:
    one = Entitlement(
        index=0, address="0x1", name=words, party_name=party, wallet_label=label, amount="1", claimed=False
    )  # fmt: skip
    assert named(one) == (name, wallet)
