"""The fixture replaces an embedded chain's node with a pool."""

import pytest
from eth_utils.crypto import keccak

from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import terms_of
from backend.chain.signing.wallet_provider import provider
from tests.chain.conftest import HOME_EID, Stage
from tests.nodes.conftest import CONFIRMATIONS
from tests.support.node_pool.anvil import Anvil
from tests.support.node_pool.pool import NodePool


async def test_node_accepts_a_batch_larger_than_one_request(anvil: str) -> None:
    node = Anvil(anvil)
    digests = await node.batch([("web3_sha3", ["0x" + "00" * 100_000])] * 30)
    assert digests == ["0x" + keccak(bytes(100_000)).hex()] * 30
    await node.close()


@pytest.mark.long
async def test_pool_in_place_of_a_node_executes_the_chain_transactions(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    assert terms_of(HOME_EID).confirmations == CONFIRMATIONS
    pool.become(mines_every=3)
    wallet = (await provider().create()).address
    await pool.fund(wallet)
    await stage.do(HOME_EID, wallet, Call(wallet, "0x", 1))
    at = await stage.token(HOME_EID, open_rules, supply=100)
    assert await token.total_supply(HOME_EID, at) == 100
    before, height, after = await pool.node.height(), await (await connect(HOME_EID)).height(), await pool.node.height()
    assert before <= height <= after
    assert pool.asked
