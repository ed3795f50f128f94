"""Terms of an issuer, and when it is registered."""

import pytest

from backend.core.errors import BadRequest
from backend.issuers import rules
from backend.issuers.rules import Terms
from backend.issuers.schemas import IssuerRegister, IssuerStatus


def test_omitted_terms_keep_their_values() -> None:
    known = Terms("Acme KYC", 2, True)
    assert rules.terms(IssuerRegister(), known, "Acme") == known
    assert rules.terms(IssuerRegister(), None, "Acme") == Terms("Acme", 3, False)
    assert rules.terms(IssuerRegister(max_kyc_level=1), known, "Acme") == Terms("Acme KYC", 1, True)
    assert rules.terms(IssuerRegister(name=None), known, "Acme") == known


@pytest.mark.parametrize(("has_wallet", "chains"), [(False, 1), (True, 0)])
def test_registration_needs_a_wallet_and_a_chain(has_wallet: bool, chains: int) -> None:
    with pytest.raises(BadRequest):
        rules.check_ready(has_wallet, chains)
    rules.check_ready(True, 1)


def test_registration_covers_every_enabled_chain() -> None:
    states = {1: IssuerStatus.REGISTERED, 2: IssuerStatus.PENDING}
    assert rules.unregistered([1], states) == set()
    assert rules.unregistered([1, 2, 3], states) == {2, 3}
