"""The newest state of a chain whose nodes keep no other, with its block."""

from dataclasses import replace

import pytest
from eth_account import Account

from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.rpc import terms
from tests.chain.conftest import HOME_EID, Stage
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long


@pytest.mark.parametrize("is_known", [True, False])
async def test_attestation_is_read_from_latest_state_only_machines(
    stage: Stage, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    """Known from the chain's terms, or from the node's refusal."""
    if is_known:
        known = replace(terms.DEFAULTS[HOME_EID], history=0)
        monkeypatch.setattr(terms, "DEFAULTS", terms.DEFAULTS | {HOME_EID: known})
    pool.become(mines_every=2)
    uid = await stage.attest(HOME_EID, subject := Account.create().address)
    at = (await contracts_of(HOME_EID)).registry
    pool.become(lags=(0, 7), history=0, mines_every=2)
    for _ in range(20):
        answer = await registry.attestation(HOME_EID, at, uid)
        assert (answer.subject, answer.is_valid) == (subject, True)
        assert answer.block_number <= await pool.node.height()
