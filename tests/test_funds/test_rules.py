"""Which chains, amounts and wallets get test funds."""

import pytest

from backend.core.errors import BadRequest, Conflict
from backend.test_funds import rules
from backend.wallets.schemas import WalletKind


@pytest.mark.parametrize("amount", [1, rules.MOST])
def test_amount_within_the_limits_is_accepted(amount: int) -> None:
    rules.check_amount(amount)


@pytest.mark.parametrize("amount", [0, rules.MOST + 1, 2**256 - 1])
def test_amount_beyond_the_limits_is_refused_at_its_field(amount: int) -> None:
    with pytest.raises(BadRequest, match=r"between 1 base unit and 1,000,000,000 tUSD") as refused:
        rules.check_amount(amount)
    assert refused.value.pointer == "/amount"


def test_chain_with_value_is_refused_at_its_field() -> None:
    rules.check_chain("Sepolia Devnet", is_embedded=True)
    with pytest.raises(BadRequest, match="Ethereum is not an embedded chain") as refused:
        rules.check_chain("Ethereum", is_embedded=False)
    assert refused.value.pointer == "/chain_eid"


def test_linked_wallet_is_refused() -> None:
    rules.check_wallet(WalletKind.SERVER)
    with pytest.raises(Conflict, match="server wallets"):
        rules.check_wallet(WalletKind.LINKED)
