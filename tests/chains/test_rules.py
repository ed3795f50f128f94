"""The chains of a network."""

import pytest

from backend.chains import rules
from backend.core.errors import BadRequest
from backend.core.fields import Environment, Network, VmType


def test_embedded_chains_count_as_testnets() -> None:
    assert Environment.DEVNET in rules.environments(Network.TESTNET)
    assert rules.environments(Network.MAINNET) == (Environment.MAINNET,)


@pytest.mark.parametrize(
    ("vm", "environment", "network"),
    [
        (VmType.SOLANA, Environment.MAINNET, Network.MAINNET),
        (VmType.EVM, Environment.MAINNET, Network.TESTNET),
        (VmType.EVM, Environment.DEVNET, Network.MAINNET),
        (VmType.EVM, Environment.TESTNET, Network.MAINNET),
    ],
)
def test_chain_of_another_network_or_virtual_machine_is_rejected(
    vm: VmType, environment: Environment, network: Network
) -> None:
    with pytest.raises(BadRequest):
        rules.check_usable("Chain", vm, environment, network)
