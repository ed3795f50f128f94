"""Terms of an issuer, and when it is registered."""

from uuid import uuid4

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
    organization, chain = uuid4(), uuid4()
    with pytest.raises(BadRequest) as raised:
        rules.check_ready(organization, has_wallet, chains, {chain: "Sepolia"})
    resolution = raised.value.extensions()["resolution"]
    path = f"/chains/{chain}/enable" if has_wallet else "/wallets"
    assert (resolution["method"], resolution["path"]) == ("POST", f"/orgs/{organization}{path}")
    rules.check_ready(organization, True, 1, {})


def test_registration_covers_every_enabled_chain() -> None:
    states = {1: IssuerStatus.REGISTERED, 2: IssuerStatus.PENDING}
    assert rules.unregistered([1], states) == set()
    assert rules.unregistered([1, 2, 3], states) == {2, 3}
