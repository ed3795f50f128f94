"""What a rollup charges for writing a transaction to Ethereum, beside its own gas.

OP-stack chains take this L1 fee from the sender's balance on top of gas times price; `eth_estimateGas` knows nothing of
it. Their GasPriceOracle predeploy tells an upper bound for a size. Arbitrum charges the same cost as gas, and its
`eth_estimateGas` includes it; only gas that was measured elsewhere lacks it, and there NodeInterface tells it.
"""

import hashlib
from typing import Final

from eth_abi.abi import decode, encode
from eth_utils.crypto import keccak

from backend.chain import endpoints
from backend.chain.rpc import Rpc

OP_STACK: Final = frozenset({30111, 30184, 40232, 40245})
ARBITRUM: Final = frozenset({30110, 40231})
ORACLE: Final = "0x420000000000000000000000000000000000000F"
NODE_INTERFACE: Final = "0x00000000000000000000000000000000000000C8"
ENVELOPE: Final = 120
"""Bytes of an unsigned transaction beside its call data. The oracle adds the signature."""
MARGIN: Final = 2
"""The fee follows Ethereum's base fee, which may double until the transaction is included."""
_UPPER_BOUND = keccak(text="getL1FeeUpperBound(uint256)")[:4]
_COMPONENT = keccak(text="gasEstimateL1Component(address,bool,bytes)")[:4]


async def l1_fee(rpc: Rpc, call_data_size: int) -> int:
    """Return the most that an OP-stack chain may take for one transaction beside its gas, wei; 0 on other chains.

    `call_data_size` in bytes. Raises ChainUnavailable, RpcError.
    """
    if rpc.eid not in OP_STACK or endpoints.is_embedded(rpc.eid):
        return 0
    data = _UPPER_BOUND + encode(["uint256"], [call_data_size + ENVELOPE])
    told = await _ask(rpc, ORACLE, data)
    return MARGIN * int.from_bytes(told)


async def planned_fee(rpc: Rpc, call_data_size: int, gas_price: int) -> int:
    """Return the cost of writing call data of a size to Ethereum, wei, for plans whose gas was measured on a chain that
    is no rollup: the L1 fee on OP-stack chains, the L1 part of the gas on Arbitrum, 0 elsewhere."""
    if rpc.eid not in ARBITRUM or endpoints.is_embedded(rpc.eid):
        return await l1_fee(rpc, call_data_size)
    arguments = encode(["address", "bool", "bytes"], [NODE_INTERFACE, False, _incompressible(call_data_size)])
    told = await _ask(rpc, NODE_INTERFACE, _COMPONENT + arguments)
    if not told:
        return 0
    gas, _, _ = decode(["uint64", "uint256", "uint256"], told)
    return MARGIN * int(gas) * gas_price


async def _ask(rpc: Rpc, to: str, data: bytes) -> bytes:
    """Return what a contract answers; nothing where none is there, as on a private copy of the chain."""
    told = await rpc.request("eth_call", {"to": to, "data": "0x" + data.hex()}, "latest")
    return bytes.fromhex(str(told).removeprefix("0x"))


def _incompressible(size: int) -> bytes:
    """Arbitrum charges for compressed data; nothing compresses worse than noise."""
    return hashlib.shake_256(b"signum").digest(size)
