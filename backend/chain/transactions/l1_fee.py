"""The fee of a rollup for writing a transaction to Ethereum, in addition to its own gas.

OP-stack chains take this L1 fee from the sender's balance on top of gas times price; `eth_estimateGas` does not include
it. Their GasPriceOracle predeploy returns an upper bound for a size. Arbitrum charges the same cost as gas, and its
`eth_estimateGas` includes it; only gas measured elsewhere lacks it, and NodeInterface returns it.
"""

import hashlib
from typing import Final

from eth_abi.abi import decode, encode
from eth_utils.crypto import keccak

from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc

OP_STACK: Final = frozenset({30111, 30184, 40232, 40245})
ARBITRUM: Final = frozenset({30110, 40231})
ORACLE: Final = "0x420000000000000000000000000000000000000F"
NODE_INTERFACE: Final = "0x00000000000000000000000000000000000000C8"
ENVELOPE: Final = 120
"""Bytes of an unsigned transaction in addition to its call data. The oracle adds the signature."""
MARGIN: Final = 2
"""The fee follows Ethereum's base fee, which may double until the transaction is included."""
_UPPER_BOUND = keccak(text="getL1FeeUpperBound(uint256)")[:4]
_COMPONENT = keccak(text="gasEstimateL1Component(address,bool,bytes)")[:4]


async def l1_fee(rpc: Rpc, call_data_size: int) -> int:
    """Return the maximum that an OP-stack chain may take for one transaction in addition to its gas, wei; 0 on other
    chains.

    `call_data_size` in bytes. Raises ChainUnavailable, RpcError.
    """
    if rpc.eid not in OP_STACK or node_urls.is_embedded(rpc.eid):
        return 0
    data = _UPPER_BOUND + encode(["uint256"], [call_data_size + ENVELOPE])
    response = await _ask(rpc, ORACLE, data)
    return MARGIN * int.from_bytes(response)


async def planned_fee(rpc: Rpc, call_data_size: int, gas_price: int) -> int:
    """Return the cost of writing call data of a size to Ethereum, wei, for plans whose gas was not measured on a
    rollup: the L1 fee on OP-stack chains, the L1 part of the gas on Arbitrum, 0 elsewhere."""
    if rpc.eid not in ARBITRUM or node_urls.is_embedded(rpc.eid):
        return await l1_fee(rpc, call_data_size)
    arguments = encode(["address", "bool", "bytes"], [NODE_INTERFACE, False, _incompressible(call_data_size)])
    response = await _ask(rpc, NODE_INTERFACE, _COMPONENT + arguments)
    if not response:
        return 0
    gas, _, _ = decode(["uint64", "uint256", "uint256"], response)
    return MARGIN * int(gas) * gas_price


async def _ask(rpc: Rpc, to: str, data: bytes) -> bytes:
    """Return a contract's answer; nothing if there is no contract, as on a private copy of the chain."""
    response = await rpc.request("eth_call", {"to": to, "data": "0x" + data.hex()}, "latest")
    return bytes.fromhex(str(response).removeprefix("0x"))


def _incompressible(size: int) -> bytes:
    """Return random data, because Arbitrum charges for compressed data and nothing compresses worse."""
    return hashlib.shake_256(b"signum").digest(size)
