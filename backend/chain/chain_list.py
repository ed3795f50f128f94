"""The chain list: the chains that Signum knows.

Endpoint IDs come from LayerZero's definitions, chain IDs from viem's. With embedded chains, their rows replace their
public counterparts: the same key and endpoint ID, a different chain ID, and a name that says what they are.
"""

from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.chain_models import ChainContractRow, ChainRow
from backend.chain.rpc import node_urls
from backend.chain.rpc.node_urls import EMBEDDED
from backend.core import db
from backend.core.errors import CannotStart
from backend.core.fields import Environment, VmType
from backend.core.settings import settings


class Entry(NamedTuple):
    """A chain of the list."""

    key: str
    name: str
    chain_id: int | None
    eid: int
    symbol: str
    layer: str
    environment: Environment
    rpc_url: str | None
    explorer_url: str | None


_MAIN, _TEST = Environment.MAINNET, Environment.TESTNET
CHAINS: Final = (
    Entry("ethereum", "Ethereum", 1, 30101, "ETH", "L1", _MAIN, None, "https://etherscan.io"),
    Entry(
        "bsc",
        "BNB Smart Chain",
        56,
        30102,
        "BNB",
        "L1",
        _MAIN,
        "https://bsc-dataseed.bnbchain.org",
        "https://bscscan.com",
    ),
    Entry(
        "avalanche",
        "Avalanche C-Chain",
        43114,
        30106,
        "AVAX",
        "L1",
        _MAIN,
        "https://api.avax.network/ext/bc/C/rpc",
        "https://snowtrace.io",
    ),
    Entry(
        "polygon",
        "Polygon PoS",
        137,
        30109,
        "POL",
        "sidechain",
        _MAIN,
        "https://polygon-rpc.com",
        "https://polygonscan.com",
    ),
    Entry(
        "arbitrum",
        "Arbitrum One",
        42161,
        30110,
        "ETH",
        "L2",
        _MAIN,
        "https://arb1.arbitrum.io/rpc",
        "https://arbiscan.io",
    ),
    Entry(
        "optimism",
        "OP Mainnet",
        10,
        30111,
        "ETH",
        "L2",
        _MAIN,
        "https://mainnet.optimism.io",
        "https://optimistic.etherscan.io",
    ),
    Entry("base", "Base", 8453, 30184, "ETH", "L2", _MAIN, "https://mainnet.base.org", "https://basescan.org"),
    Entry(
        "hyperliquid",
        "HyperEVM",
        999,
        30367,
        "HYPE",
        "L1",
        _MAIN,
        "https://rpc.hyperliquid.xyz/evm",
        "https://hyperevmscan.io",
    ),
    Entry(
        "solana",
        "Solana",
        None,
        30168,
        "SOL",
        "L1",
        _MAIN,
        "https://api.mainnet-beta.solana.com",
        "https://explorer.solana.com",
    ),
    Entry("sepolia", "Sepolia", 11155111, 40161, "ETH", "L1", _TEST, None, "https://sepolia.etherscan.io"),
    Entry(
        "fuji",
        "Avalanche Fuji",
        43113,
        40106,
        "AVAX",
        "L1",
        _TEST,
        "https://api.avax-test.network/ext/bc/C/rpc",
        "https://testnet.snowtrace.io",
    ),
    Entry(
        "bsc-testnet",
        "BNB Testnet",
        97,
        40102,
        "tBNB",
        "L1",
        _TEST,
        "https://data-seed-prebsc-1-s1.bnbchain.org:8545",
        "https://testnet.bscscan.com",
    ),
    Entry(
        "base-sepolia",
        "Base Sepolia",
        84532,
        40245,
        "ETH",
        "L2",
        _TEST,
        "https://sepolia.base.org",
        "https://sepolia.basescan.org",
    ),
    Entry(
        "arbitrum-sepolia",
        "Arbitrum Sepolia",
        421614,
        40231,
        "ETH",
        "L2",
        _TEST,
        "https://sepolia-rollup.arbitrum.io/rpc",
        "https://sepolia.arbiscan.io",
    ),
    Entry(
        "optimism-sepolia",
        "OP Sepolia",
        11155420,
        40232,
        "ETH",
        "L2",
        _TEST,
        "https://sepolia.optimism.io",
        "https://sepolia-optimism.etherscan.io",
    ),
    Entry(
        "amoy",
        "Polygon Amoy",
        80002,
        40267,
        "POL",
        "sidechain",
        _TEST,
        "https://rpc-amoy.polygon.technology",
        "https://amoy.polygonscan.com",
    ),
    Entry(
        "hyperliquid-testnet",
        "HyperEVM Testnet",
        998,
        40362,
        "HYPE",
        "L1",
        _TEST,
        "https://rpc.hyperliquid-testnet.xyz/evm",
        "https://testnet.purrsec.com",
    ),
    Entry(
        "solana-testnet",
        "Solana Testnet",
        None,
        40168,
        "SOL",
        "L1",
        _TEST,
        "https://api.testnet.solana.com",
        "https://explorer.solana.com/?cluster=testnet",
    ),
)
_FIRST = (40362, 40161, 40245)
"""Endpoint IDs that lists show first."""


def _row(entry: Entry) -> dict[str, Any]:
    local = EMBEDDED.get(entry.eid) if settings().embedded_chains else None
    priority = _FIRST.index(entry.eid) + 1 if entry.eid in _FIRST else 100
    values = {
        "chain_key": entry.key,
        "chain_name": entry.name,
        "display_name": entry.name,
        "native_chain_id": entry.chain_id,
        "native_currency_symbol": entry.symbol,
        "chain_layer": entry.layer,
        "environment": entry.environment,
        "vm_type": VmType.SOLANA if entry.key.startswith("solana") else VmType.EVM,
        "rpc_url": entry.rpc_url,
        "explorer_url": entry.explorer_url,
        "priority": priority,
    }
    if local is not None:
        values |= {
            "display_name": local.display_name,
            "native_chain_id": local.chain_id,
            "environment": Environment.DEVNET,
            "rpc_url": None,
            "explorer_url": None,
        }
    return values


async def check(session: db.Write) -> None:
    """Check that a database of embedded chains is not used for public ones, or the reverse, because their contracts
    differ. Raises CannotStart."""
    ours = sa.select(col(ChainContractRow.chain_eid)).where(col(ChainContractRow.chain_eid) == col(ChainRow.xchain_eid))
    query = sa.select(col(ChainRow.xchain_eid), col(ChainRow.native_chain_id)).where(ours.exists())
    known = {entry.eid: _row(entry) for entry in CHAINS}
    for eid, chain_id in await session.execute(query):
        if eid in known and chain_id != known[eid]["native_chain_id"]:
            kind = "embedded" if not settings().embedded_chains else "public"
            raise CannotStart(
                f"This database belongs to {kind} chains (its chain {eid} has the chain ID {chain_id}). Use another "
                "DATABASE_URL, or another SIGNUM_HOME for an embedded database."
            )


async def seed(session: db.Write) -> None:
    """Write the rows of the chain list; what the indexer and the deployment recorded about a chain stays."""
    for entry in CHAINS:
        values = _row(entry)
        if not node_urls.urls_of(entry.eid):
            values["missing"] = None  # of removed settings
        fresh = insert(ChainRow).values(**ChainRow(xchain_eid=entry.eid, **values).model_dump())
        await session.execute(fresh.on_conflict_do_update(index_elements=[sa.text("xchain_eid")], set_=values))
