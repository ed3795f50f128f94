"""Kinds of wallets, and when they can be removed."""

import pytest

from backend.core.errors import BadRequest, Conflict
from backend.core.fields import Environment
from backend.wallets import rules
from backend.wallets.schemas import Balance, WalletKind

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


def _balance(amount: str, is_native: bool) -> Balance:
    return Balance(chain_eid=1, chain_name="One", symbol="X", decimals=18, amount=amount, is_native=is_native)


def test_wallet_with_an_address_is_linked() -> None:
    assert rules.kind_of(None, ADDRESS) is WalletKind.LINKED
    assert rules.kind_of(None, None) is WalletKind.SERVER
    for asked, address in ((WalletKind.SERVER, ADDRESS), (WalletKind.LINKED, None)):
        with pytest.raises(BadRequest):
            rules.kind_of(asked, address)


def test_treasury_with_tokens_cannot_be_replaced() -> None:
    rules.check_default(WalletKind.SERVER, True, has_tokens=False)
    with pytest.raises(Conflict):
        rules.check_default(WalletKind.SERVER, True, has_tokens=True)


@pytest.mark.parametrize(("default", "issuer", "orders"), [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_server_wallet_in_use_cannot_be_deleted_but_a_linked_one_can(default: int, issuer: int, orders: int) -> None:
    with pytest.raises(Conflict):
        rules.check_deletable(WalletKind.SERVER, bool(default), bool(issuer), bool(orders))
    rules.check_deletable(WalletKind.LINKED, bool(default), bool(issuer), bool(orders))


def test_wallet_with_only_devnet_gas_counts_as_empty() -> None:
    rules.check_empty([_balance("5", True), _balance("0", False)], {1: Environment.DEVNET})
    gas, token = (_balance("5", True), Environment.TESTNET), (_balance("1", False), Environment.DEVNET)
    for balance, environment in (gas, token):
        with pytest.raises(Conflict):
            rules.check_empty([balance], {1: environment})
