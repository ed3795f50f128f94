"""Which chains a network reaches."""

import pytest

from backend.chains import rules
from backend.chains.schemas import Environment, VmType
from backend.errors import BadRequest
from backend.fields import Network


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
def test_other_networks_and_machines_are_refused(vm: VmType, environment: Environment, network: Network) -> None:
    with pytest.raises(BadRequest):
        rules.check_usable("Chain", vm, environment, network)
