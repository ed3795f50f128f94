"""Chains as pages need them beside their own subject: a name, an explorer, what serves there."""

from dataclasses import dataclass
from typing import Any

from state.api import Api


@dataclass
class ChainView:
    """A chain of the organization."""

    eid: int = 0
    name: str = ""
    status: str = ""
    environment: str = ""
    currency: str = ""
    enabled: bool = False
    explorer: str = ""
    factory: str = ""
    quote_token: str = ""
    quote_symbol: str = ""
    quote_decimals: int = 6


class Chains(Api, mixin=True):
    """Mixin of a state that shows chains. They are read once and kept out of the browser."""

    _chains: dict[int, ChainView] = {}

    async def _read_chains(self) -> dict[int, ChainView]:
        """The organization's chains by endpoint id, read anew."""
        page = await self._api("GET", "/orgs/{org}/chains")
        self._chains = {chain["xchain_eid"]: chain_view(chain) for chain in page["chains"] if chain["xchain_eid"]}
        return self._chains

    def _chain_name(self, eid: int | None) -> str:
        known = self._chains.get(eid or 0)
        return known.name if known else f"Chain {eid}"

    def _address_url(self, eid: int | None, address: str | None) -> str:
        """The explorer's page of an address, or an empty string (embedded chains have none)."""
        known = self._chains.get(eid or 0)
        return f"{known.explorer}/address/{address}" if known and known.explorer and address else ""

    def _transaction_url(self, eid: int | None, tx_hash: str | None) -> str:
        known = self._chains.get(eid or 0)
        return f"{known.explorer}/tx/{tx_hash}" if known and known.explorer and tx_hash else ""


def chain_view(chain: dict[str, Any]) -> ChainView:
    """Read the API's chain."""
    return ChainView(
        eid=chain["xchain_eid"] or 0,
        name=chain["display_name"] or chain["chain_name"] or str(chain["xchain_eid"]),
        status=chain["status"] or "",
        environment=chain["environment"] or "",
        currency=chain["native_currency_symbol"] or "ETH",
        enabled=bool(chain["enabled"]),
        explorer=(chain["explorer_url"] or "").rstrip("/"),
        factory=chain["market_factory_address"] or "",
        quote_token=chain["quote_token_address"] or "",
        quote_symbol=chain.get("quote_symbol") or "",
        quote_decimals=chain.get("quote_decimals") or 6,
    )


def options(chains: dict[int, ChainView]) -> list[dict[str, str]]:
    """Enabled chains as a select's options."""
    return [{"value": str(chain.eid), "label": chain.name} for chain in chains.values() if chain.enabled]


__all__ = ["ChainView", "Chains", "chain_view", "options"]
