"""An issuer's terms, and when it is registered."""

import pytest

from backend.errors import BadRequest
from backend.issuers import rules
from backend.issuers.rules import Terms
from backend.issuers.schemas import IssuerRegister, IssuerStatus


def test_what_is_left_out_stays_as_it_was() -> None:
    known = Terms("Acme KYC", 2, True)
    assert rules.terms(IssuerRegister(), known, "Acme") == known
    assert rules.terms(IssuerRegister(), None, "Acme") == Terms("Acme", 3, False)
    assert rules.terms(IssuerRegister(max_kyc_level=1), known, "Acme") == Terms("Acme KYC", 1, True)
    assert rules.terms(IssuerRegister(name=None), known, "Acme") == known


@pytest.mark.parametrize(("has_wallet", "chains"), [(False, 1), (True, 0)])
def test_a_wallet_and_a_chain_are_needed(has_wallet: bool, chains: int) -> None:
    with pytest.raises(BadRequest):
        rules.check_ready(has_wallet, chains)
    rules.check_ready(True, 1)


def test_registered_means_on_every_enabled_chain() -> None:
    states = {1: IssuerStatus.REGISTERED, 2: IssuerStatus.PENDING}
    assert rules.unregistered([1], states) == set()
    assert rules.unregistered([1, 2, 3], states) == {2, 3}
