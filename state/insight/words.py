"""The words of the overview's figures."""

from collections.abc import Sequence

from backend.insight.schemas import AssetInsight, PriceBasis
from state.core.charts import compact, moved

MONTH = "in 30 days"


def plural(count: int, word: str) -> str:
    """Return a number of things: 1 asset, 2 assets."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def change(now: int, before: int, decimals: int = 0, *, period: str = MONTH) -> str:
    """Return by how much a number changed: `+3 in 30 days`."""
    if now == before:
        return f"unchanged {period}"
    sign = "+" if now > before else "−"
    return f"{sign}{compact(abs(now - before), decimals)} {period}"


def growth(now: int, before: int, decimals: int) -> str:
    """Return by how much an amount changed, in percent; as an amount if there was none before."""
    if before <= 0 or now == before:
        return change(now, before, decimals)
    return f"{moved(before, now)} {MONTH}"


def pricing(assets: Sequence[AssetInsight]) -> str:
    """Return at which prices assets count, and which do not count."""
    issued = [asset for asset in assets if asset.supply != "0"]
    count = {basis: sum(asset.basis is basis for asset in issued) for basis in PriceBasis}
    said = []
    if count[PriceBasis.LAST_PRICE]:
        said.append("at last prices")
    if count[PriceBasis.NOMINAL]:
        said.append(f"{plural(count[PriceBasis.NOMINAL], 'asset')} at nominal value")
    if left := count[PriceBasis.NONE] + count[PriceBasis.OTHER_CURRENCY]:
        said.append(f"{plural(left, 'asset')} without a price not counted")
    return ", ".join(said)


def holding(assets: Sequence[AssetInsight]) -> str:
    """Return of how many assets there are holders. The treasury is not a holder, so an asset can have none."""
    held = sum(asset.holders.now > 0 for asset in assets)
    return f"of {plural(held, 'asset')}, without the treasury" if held else "no investor holds an asset yet"


def unheld(asset: AssetInsight) -> str:
    """Return why an asset with a supply has no holders: the treasury does not count as one. Otherwise nothing."""
    return "none besides the treasury" if asset.supply != "0" and not asset.holders.now else ""


BASES = {
    PriceBasis.LAST_PRICE: "last trade",
    PriceBasis.NOMINAL: "nominal value",
    PriceBasis.NONE: "no trade, no nominal value",
    PriceBasis.OTHER_CURRENCY: "in another currency",
}
