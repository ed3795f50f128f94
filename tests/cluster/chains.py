"""Two chains that all processes use by SIGNUM_RPC_URLS, as public ones, and someone who funds their wallets."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import psycopg

from tests.public.network import PublicChain

TERMS = {"block_time": 1, "confirmations": 1, "safe": 1, "final": 2, "succeeds_at": "included"}
WEALTH = hex(10**21)
LOOK = 0.3
"""Seconds between two looks for new wallets."""


class Chains:
    """Sepolia and Base Sepolia, which mine a block a second."""

    def __init__(self) -> None:
        self.by_eid = {eid: PublicChain(eid, id_, block_time=1) for eid, id_ in ((40161, 11155111), (40245, 84532))}
        self._funded: set[str] = set()

    def start(self) -> None:
        """Start both."""
        for chain in self.by_eid.values():
            chain.start()

    def stop(self) -> None:
        """Stop both; nothing is kept."""
        for chain in self.by_eid.values():
            chain.stop()

    def settings(self) -> dict[str, str]:
        """Return an operator's settings for these chains."""

        def each(name: str) -> str:
            return json.dumps({eid: getattr(chain, name) for eid, chain in self.by_eid.items()})

        return {
            "SIGNUM_RPC_URLS": each("url"),
            "SIGNUM_ENDPOINTS": each("endpoint"),
            "SIGNUM_QUOTE_TOKENS": each("currency"),
            "SIGNUM_CHAIN_TERMS": json.dumps(dict.fromkeys(self.by_eid, TERMS)),
        }

    async def fund(self, database: str) -> None:
        """Give every server wallet native currency, until cancelled."""
        while True:
            with suppress(psycopg.Error):
                for address in await asyncio.to_thread(_wallets, database):
                    if address not in self._funded:
                        for chain in self.by_eid.values():
                            await asyncio.to_thread(chain.rpc, "anvil_setBalance", address, WEALTH)
                        self._funded.add(address)
            await asyncio.sleep(LOOK)


def _wallets(database: str) -> list[Any]:
    with psycopg.connect(database) as connection:
        return [row[0] for row in connection.execute("select address from wallet_keys").fetchall()]
