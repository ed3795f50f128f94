"""Chains as other pages need them: a name, an explorer, their services."""

from dataclasses import dataclass

from backend.chains.schemas import OrganizationChain
from state.core.api import Api


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
    """Mixin of a state that shows chains. They are read once and kept on the server."""

    _chains: dict[int, ChainView] = {}

    async def _read_chains(self) -> dict[int, ChainView]:
        """Return the organization's chains by endpoint id, freshly read."""
        page = await self._api.list_organization_chains(self._org_id())
        self._chains = {chain.xchain_eid: chain_view(chain) for chain in page.chains if chain.xchain_eid}
        return self._chains

    def _chain_name(self, eid: int | None) -> str:
        known = self._chains.get(eid or 0)
        return known.name if known else f"Chain {eid}"

    def _address_url(self, eid: int | None, address: str | None) -> str:
        """Return the explorer's page of an address, or an empty string (embedded chains have no explorer)."""
        known = self._chains.get(eid or 0)
        return f"{known.explorer}/address/{address}" if known and known.explorer and address else ""

    def _transaction_url(self, eid: int | None, tx_hash: str | None) -> str:
        known = self._chains.get(eid or 0)
        return f"{known.explorer}/tx/{tx_hash}" if known and known.explorer and tx_hash else ""


def chain_view(chain: OrganizationChain) -> ChainView:
    """Convert the API's chain."""
    return ChainView(
        eid=chain.xchain_eid or 0,
        name=chain.display_name or chain.chain_name or str(chain.xchain_eid),
        status=chain.status or "",
        environment=chain.environment or "",
        currency=chain.native_currency_symbol or "ETH",
        enabled=chain.enabled,
        explorer=(chain.explorer_url or "").rstrip("/"),
        factory=chain.market_factory_address or "",
        quote_token=chain.quote_token_address or "",
        quote_symbol=chain.quote_symbol or "",
        quote_decimals=chain.quote_decimals or 6,
    )


def options(chains: dict[int, ChainView]) -> list[dict[str, str]]:
    """Return the enabled chains as a select's options."""
    return [{"value": str(chain.eid), "label": chain.name} for chain in chains.values() if chain.enabled]


__all__ = ["ChainView", "Chains", "chain_view", "options"]
