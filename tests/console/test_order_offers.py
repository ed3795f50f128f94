"""The next step that a refused order offers."""

from typing import Any
from uuid import UUID

import pytest

from backend.accounts.schemas import Account
from backend.client import ApiProblem
from backend.wallets.schemas import AddressKind
from state.markets.detail import MarketDetail
from state.orders.offers import ATTEST, FUNDS, UNFREEZE, UNPAUSE, offer_of

MARKET = MarketDetail(symbol="NREF", quote="tUSD", chain="Sepolia Devnet")


def _account(party: int | None = 7) -> Account:
    return Account(
        address=f"0x{1:040x}", kind=AddressKind.OWN_WALLET, name=None, wallet_id=UUID(int=1),
        party_id=UUID(int=party) if party else None, balance="0", quote_balance="0", eligible=False, reasons=[],
        last_used_at=None,
    )  # fmt: skip


def _rule(code: int, path: str | None) -> dict[str, Any]:
    return {"code": code, "rule": "rule", "passed": False, "resolution": {"method": "POST", "path": path}}


def _offer(account: Account | None, *rules: dict[str, Any], path: str = "") -> str:
    problem = ApiProblem({"status": 409, "rules": list(rules), "resolution": {"path": path} if path else None})
    return offer_of(problem, account, MARKET, "Desk").kind


@pytest.mark.parametrize(
    ("code", "path", "kind"),
    [
        (9, "/orgs/o/attestations", ATTEST), (33, "/orgs/o/attestations", ATTEST), (11, "/orgs/o/attestations", ""),
        (1, "/orgs/o/assets/a/unpause", UNPAUSE), (5, "/orgs/o/assets/a/unfreeze", UNFREEZE),
        (6, "/orgs/o/assets/a", ""),
        (32, None, ""),
    ],
)  # fmt: skip
def test_offer_follows_the_resolution(code: int, path: str | None, kind: str) -> None:
    assert _offer(_account(), _rule(code, path)) == kind


def test_party_is_needed_for_an_attestation_and_the_next_resolution_counts() -> None:
    rules = [_rule(9, "/orgs/o/attestations"), _rule(1, "/orgs/o/assets/a/unpause")]
    assert _offer(_account(party=None), *rules) == UNPAUSE
    assert _offer(None, rules[0]) == ""


def test_missing_money_offers_test_funds_where_they_exist() -> None:
    assert _offer(_account(), path="/orgs/o/wallets/w/test-funds") == FUNDS
    assert _offer(_account()) == ""


def test_revoked_trader_gets_no_offer() -> None:
    """Also not for another rule: the order stays impossible."""
    revoked = _rule(9, "/identity/parties/p") | {"revocation": {"reason": "Sanctions screening match"}}
    assert _offer(_account(), _rule(5, "/orgs/o/assets/a/unfreeze"), revoked) == ""
