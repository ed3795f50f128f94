"""Raw values of records as text: units, chain names, times, percentages, and displayed field names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from backend.audit.field_names import called
from backend.daily_use.schemas import LimitedAction
from state.compliance.rules import FRAMEWORKS
from state.core.countries import written
from state.core.dates import exact
from state.core.units import grouped, percent
from state.requests.kinds import kind_words

AMOUNTS = frozenset(
    {
        "amount",
        "balance",
        "claimed_amount",
        "escrowed",
        "filled",
        "frozen",
        "initial_supply",
        "max_tokens_per_holder",
        "supply",
        "total_amount",
        "total_supply",
        "volume",
        *LimitedAction,
    }
)
MONEY = frozenset({"last_price", "maker_fee", "price", "quote", "taker_fee"})
"""Fields in a market's quote currency."""
COUNTRY = frozenset({"blocked_countries", "countries", "country", "jurisdiction"})
"""Fields with codes of countries."""
NO_LIMIT = frozenset({"max_holders", "max_tokens_per_holder"})
"""Fields in which 0 means no limit."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
CODED = frozenset({"acts", "control", "halt_reason", "kind", "role", "side", "status", "taker_side"})
"""Fields with codes of the API: `forced_transfer`."""
ACTIONS = frozenset({"action", "approvals"})
"""Fields with actions that can require a second person: `token.forced_transfer`."""
DISABLED = {
    "manual": "by hand",
    "gone": "because the receiver answered 410 (gone)",
    "failing": "because every attempt failed for 3 days",
    "maker_ended": "because the API key or application that created it no longer works",
    "too_many_events": "because it received too many events in a day",
}
"""Reasons for which a webhook endpoint is disabled."""


@dataclass(frozen=True)
class Unit:
    """The unit of an amount."""

    symbol: str
    decimals: int

    def of(self, units: Any) -> str:
        """Return base units as text."""
        return f"{grouped(units, self.decimals)} {self.symbol}".strip()


@dataclass(frozen=True)
class Market:
    """A market's units, for its orders."""

    asset_id: str
    quote: Unit | None


@dataclass(frozen=True)
class Known:
    """Referenced records by id (assets' units, markets, chain names by endpoint id), names of accounts by address, and
    the zone of times."""

    assets: Mapping[str, Unit] = field(default_factory=dict)
    markets: Mapping[str, Market] = field(default_factory=dict)
    chains: Mapping[int, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    accounts: Mapping[str, str] = field(default_factory=dict)

    def about(self, subject: Mapping[str, Any], record: Mapping[str, Any]) -> "Values":
        """Return the reader of a record's values; `subject` is its `{type, id}`."""
        own = {f"{subject['type']}_id": subject["id"], **record}
        market = self.markets.get(str(own.get("market_id")))
        asset_id = market.asset_id if market else str(own.get("asset_id"))
        asset, quote = self.assets.get(asset_id), (market or self._market_of(asset_id)).quote
        if "quote_symbol" in record:
            quote = Unit(str(record["quote_symbol"]), int(record.get("quote_decimals") or 0))
        if record.get("currency_symbol"):  # a distribution that does not pay the asset
            asset = Unit(str(record["currency_symbol"]), int(record.get("currency_decimals") or 0))
        is_money = quote is not None and record.get("currency") == quote.symbol
        return Values(quote if is_money else asset, quote, self.chains, self.zone, self.accounts)

    def _market_of(self, asset_id: str) -> Market:
        """Return one of an asset's markets: all markets of an installation share a quote currency."""
        return next((one for one in self.markets.values() if one.asset_id == asset_id), Market(asset_id, None))


@dataclass(frozen=True)
class Values:
    """Formats the values of one record, by field name."""

    asset: Unit | None = None
    quote: Unit | None = None
    chains: Mapping[int, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    accounts: Mapping[str, str] = field(default_factory=dict)

    def read(self, name: str, value: Any) -> str:
        """Return a value as text; empty text means no value."""
        if value is None or value == []:
            return ""
        if isinstance(value, list):
            return ", ".join(self._line(part) if isinstance(part, dict) else self.read(name, part) for part in value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        text = str(value)
        is_number = text.isascii() and text.isdigit()
        return (self._number(name, int(text)) if is_number else "") or self._text(name, text)

    def _number(self, name: str, value: int) -> str:
        """Format a number that has a unit or meaning; otherwise return an empty text."""
        if value == 0 and name in NO_LIMIT:
            return "no limit"
        if name in AMOUNTS or name in MONEY:
            unit = self.quote if name in MONEY else self.asset
            return unit.of(value) if unit else f"{value} base units"
        if name.endswith("_bps"):
            return percent(value)
        if name == "chains" or name.endswith("eid"):
            return self.chains.get(value, str(value))
        if name == "lockup_end_time":
            return exact(datetime.fromtimestamp(value, UTC), self.zone) if value else "none"
        return f"{value:,} bytes" if name == "size" else ""

    def _text(self, name: str, value: str) -> str:
        if name == "regulation_type":
            return FRAMEWORKS.get(value, value)
        if MOMENT.fullmatch(value):
            return exact(datetime.fromisoformat(value), self.zone)
        if value in self.accounts:
            return f"{self.accounts[value]} ({value})"
        if name in ACTIONS:
            return kind_words(value)
        if name in COUNTRY:
            return written(value)
        if name == "disabled_reason":
            return DISABLED.get(value, value)
        return value.replace("_", " ") if name in CODED else value

    def _line(self, part: dict[str, Any]) -> str:
        return " ".join(f"{called(n)} {self.read(n, v)}" for n, v in part.items() if v not in (None, ""))
