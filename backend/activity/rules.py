"""The words of an asset's activity."""

from collections.abc import Mapping
from typing import Any

from backend.activity.schemas import ActivityKind
from backend.core.units import priced, rounded, shortened


def title(row: Any, symbol: str, decimals: int, names: Mapping[str, str | None]) -> str:
    """Return what happened in words. `names` are those of addresses; unknown ones are shown shortened."""
    match row.kind:
        case ActivityKind.TRANSFER:
            receiver = names.get(row.receiver) or shortened(row.receiver)
            return f"Transfer of {rounded(row.amount, decimals)} {symbol} to {receiver}"
        case ActivityKind.ORDER:
            return f"{row.side.capitalize()} order for {_at_price(row, symbol, decimals)}"
        case ActivityKind.TRADE:
            return f"Trade of {_at_price(row, symbol, decimals)}"
        case ActivityKind.CLAIM:
            return f"Claim of {_paid(row, row.name, symbol, decimals)}"
        case ActivityKind.FUNDING:
            return f"Funding of {_paid(row, row.name, symbol, decimals)}"
        case ActivityKind.MINT | ActivityKind.BURN:
            return f"{row.kind.capitalize()} of {rounded(row.amount, decimals)} {symbol}"
        case ActivityKind.CONTROL | ActivityKind.MARKET:
            return _event(row, symbol, decimals, names)
        case ActivityKind.BRIDGE:
            moved = f"{rounded(row.amount, decimals)} {symbol}" if row.amount else f"the rules of {symbol}"
            return f"Bridge of {moved} from {row.name} to {row.code}"
        case ActivityKind.RULES:
            return f"Rules set, version {row.name}"
        case _:
            sum_of = f" of {_paid(row, row.side, symbol, decimals)}" if row.amount else ""
            return f'Distribution "{row.name}"{sum_of} created'


def _event(row: Any, symbol: str, decimals: int, names: Mapping[str, str | None]) -> str:
    """Return what an event of a token or a market says."""
    match row.name:
        case "Frozen":
            frozen = f"{rounded(row.amount, decimals)} {symbol}" if row.amount else f"No {symbol}"
            return f"{frozen} of {name(row.code, names)} frozen"
        case "VenueSet":
            return "The market may settle trades" if row.code == "true" else "The market may no longer settle trades"
        case "Halted":
            return "Market halted by its owner" if row.code == "true" else "Market reopened by its owner"
        case _:
            return f"{symbol} {row.name.lower()}"


def addresses(row: Any) -> list[str]:
    """Return the accounts of an entry, which may have names."""
    account = row.code if row.name == "Frozen" and not is_request(row) else None
    return [address for address in (row.actor, row.giver, row.receiver, account) if address]


def is_request(row: Any) -> bool:
    """Return whether an entry is a request, whose title and kind are its `name` and `code`."""
    return bool(row.id == row.request_id)


def name(address: str | None, names: Mapping[str, str | None]) -> str | None:
    """Return the name of an account, or its short address."""
    return None if address is None else names.get(address) or shortened(address)


def _paid(row: Any, currency: str | None, symbol: str, decimals: int) -> str:
    """Return an amount of a distribution: in its currency, or in the asset."""
    if currency:
        return f"{rounded(row.amount, int(row.code or 0), 2)} {currency}"
    return f"{rounded(row.amount, decimals)} {symbol}"


def _at_price(row: Any, symbol: str, decimals: int) -> str:
    price = f"{priced(row.price, int(row.code or 0), is_exact=False)} {row.name or ''}".rstrip()
    return f"{rounded(row.amount, decimals)} {symbol} at {price}"
