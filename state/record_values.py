"""Raw values of records as people read them: units, chains by name, moments, percents, and what fields are called."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from state.rules import FRAMEWORKS
from state.units import grouped, percent

NAMES = {
    "amount_to_freeze": "to freeze",
    "banner_url": "banner",
    "claimed_recipients": "recipients who claimed",
    "compliance_rules": "rules",
    "country": "country",
    "destination_tx_hash": "transaction at the destination",
    "distributor_address": "distributor",
    "from_address": "from",
    "guid": "packet",
    "has_recipients": "list of recipients kept",
    "hierarchy_path": "path",
    "initial_supply": "first supply",
    "kyc_level": "KYC level",
    "kyc_required": "KYC required",
    "logo_url": "logo",
    "lockup_end_time": "lockup ends",
    "maker_address": "maker",
    "market_address": "market contract",
    "market_factory_address": "market factory",
    "max_holders": "most holders",
    "max_kyc_level": "highest KYC level",
    "max_tokens_per_holder": "most per holder",
    "min_kyc_level": "KYC level required",
    "old_secrets_until": "old secrets work until",
    "org_only": "organization only",
    "org_type": "type",
    "quote_token_address": "quote token",
    "regulation_type": "framework",
    "required_kyc_level": "KYC level required",
    "requires_accreditation": "accredited investors only",
    "rwa_token_address": "token",
    "sha256": "SHA-256",
    "source_tx_hash": "transaction at the source",
    "to_address": "to",
    "token_address": "token",
    "total_amount": "sum",
    "total_recipients": "recipients",
    "tx_hash": "transaction",
    "tx_hashes": "transactions",
    "uid": "attestation uid",
    "wallet_address": "wallet",
    "website": "website",
}
"""Fields whose own names are not how people call them."""
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
    }
)
MONEY = frozenset({"price", "quote"})
"""What is counted in a market's currency."""
NO_LIMIT = frozenset({"max_holders", "max_tokens_per_holder"})
"""Where 0 means that there is none."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
CODED = frozenset({"acts", "control", "disabled_reason", "halt_reason", "kind", "role", "side", "status"})
"""Fields with words of the API: `forced_transfer`."""
ACTIONS = frozenset({"action", "approvals"})
"""Fields with actions that can need a second person: `token.forced_transfer`."""


@dataclass(frozen=True)
class Unit:
    """What an amount is of."""

    symbol: str
    decimals: int

    def of(self, units: Any) -> str:
        """Base units in words."""
        return f"{grouped(units, self.decimals)} {self.symbol}".strip()


@dataclass(frozen=True)
class Market:
    """A market as its orders need it."""

    asset_id: str
    quote: Unit | None


@dataclass(frozen=True)
class Known:
    """What records refer to, by id: assets' units, markets, and chains' names by endpoint id."""

    assets: Mapping[str, Unit] = field(default_factory=dict)
    markets: Mapping[str, Market] = field(default_factory=dict)
    chains: Mapping[int, str] = field(default_factory=dict)

    def about(self, subject: Mapping[str, Any], record: Mapping[str, Any]) -> "Values":
        """How the values of a record are read; `subject` is its `{type, id}`."""
        own = {f"{subject['type']}_id": subject["id"], **record}
        market = self.markets.get(str(own.get("market_id")))
        asset_id = market.asset_id if market else str(own.get("asset_id"))
        asset, quote = self.assets.get(asset_id), (market or self._market_of(asset_id)).quote
        if "quote_symbol" in record:
            quote = Unit(str(record["quote_symbol"]), int(record.get("quote_decimals") or 0))
        is_money = quote is not None and record.get("currency") == quote.symbol
        return Values(quote if is_money else asset, quote, self.chains)

    def _market_of(self, asset_id: str) -> Market:
        """One of an asset's markets: those of an installation trade for one currency."""
        return next((one for one in self.markets.values() if one.asset_id == asset_id), Market(asset_id, None))


@dataclass(frozen=True)
class Values:
    """Reads the values of one record, by the names of its fields."""

    asset: Unit | None = None
    quote: Unit | None = None
    chains: Mapping[int, str] = field(default_factory=dict)

    def read(self, name: str, value: Any) -> str:
        """A value in words; an empty text is none."""
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
        """A number that is more than its digits; an empty text otherwise."""
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
            return moment(datetime.fromtimestamp(value, UTC)) if value else "none"
        return f"{value:,} bytes" if name == "size" else ""

    def _text(self, name: str, value: str) -> str:
        if name == "regulation_type":
            return FRAMEWORKS.get(value, value)
        if MOMENT.fullmatch(value):
            return moment(datetime.fromisoformat(value))
        if name in ACTIONS:
            value = value.replace(".", " ")
        return value.replace("_", " ") if name in CODED | ACTIONS else value

    def _line(self, part: dict[str, Any]) -> str:
        return " ".join(f"{called(n)} {self.read(n, v)}" for n, v in part.items() if v not in (None, ""))


def called(name: str) -> str:
    """A field's name as people say it: `expires_at` as "expires", `chain_eid` as "chain"."""
    if known := NAMES.get(name):
        return known
    plain = name.removesuffix("_at").removesuffix("_bps").removesuffix("_eid").replace("_", " ")
    return "chain" if plain == "xchain" else plain.replace("url", "URL").replace("kyc", "KYC")


def moment(at: datetime) -> str:
    """A moment as the console writes exact ones: `20 Nov 2026, 12:14:05 UTC`."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M:%S} UTC"
