"""The newest state of a chain whose nodes keep no other, with the block that it is of."""

from dataclasses import replace

import pytest
from eth_account import Account

from backend.chain import registry, terms
from backend.chain.deployment import contracts_of
from tests.chain.conftest import HOME_EID, Stage
from tests.nodes.pool import NodePool


@pytest.mark.parametrize("is_told", [True, False])
async def test_attestation_is_read_from_machines_that_keep_the_newest_state_only(
    stage: Stage, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """Whether the chain's terms say so, or the node's refusal does."""
    if is_told:
        known = replace(terms.DEFAULTS[HOME_EID], history=0)
        monkeypatch.setattr(terms, "DEFAULTS", terms.DEFAULTS | {HOME_EID: known})
    pool.become(mines_every=2)
    uid = await stage.attest(HOME_EID, subject := Account.create().address)
    at = (await contracts_of(HOME_EID)).registry
    pool.become(lags=(0, 7), history=0, mines_every=2)
    for _ in range(20):
        told = await registry.attestation(HOME_EID, at, uid)
        assert (told.subject, told.is_valid) == (subject, True)
        assert told.block_number <= await pool.node.height()
