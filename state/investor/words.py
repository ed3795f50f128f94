"""Sentences of the investor's pages. Pure functions."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from backend.investors.schemas import InvestorEligibility, InvestorOrder, RefusedRule
from state.core.units import rounded

NEXT_STEPS = {
    3: "This address cannot hold tokens. {organization} can record another wallet for you.",
    4: "Your wallet holds less than this order needs.",
    5: "A part of your tokens is frozen, and the rest is less than this order needs.",
    9: "{organization} has to attest your wallet on {chain}. Contact them.",
    10: "{organization} itself has to attest your wallet. Contact them.",
    11: "A higher verification level is required. {organization} can review your documents again.",
    12: "Only accredited investors may hold it. {organization} can record your accreditation.",
    13: "Investors of your country may not hold it.",
    15: "You hold more than one investor may hold.",
}
"""What an investor can do, by the code of the rule that refuses them."""
SAME = {7: 9, 8: 13, 33: 9, 34: 11, 35: 12, 36: 13}
"""Rules about a seller and of a market, for which an investor can do the same as for another rule."""


def day(at: datetime, zone: tzinfo = UTC) -> str:
    """Return a date in a time zone: 14 March 2027."""
    return f"{at.astimezone(zone).day} {at.astimezone(zone):%B %Y}"


def month(text: str) -> str:
    """Return a month, such as 2027-03: March 2027."""
    return f"{datetime.fromisoformat(f'{text}-01'):%B %Y}"


def verdict(places: Sequence[InvestorEligibility], organization: str, zone: tzinfo = UTC) -> tuple[str, str, str]:
    """Return tone, sentence and next step about one asset, from its places (a chain and an address each)."""
    symbol, able = places[0].symbol, [place for place in places if place.eligible]
    if not able:
        return "bad", f"You may not hold {symbol} now.", _next_step(places[0], organization)
    ends = sorted(place.valid_until for place in able if place.valid_until is not None)
    level = _level(able[0])
    until = f" until {day(ends[0], zone)}" if ends else ""
    by = f" by {organization}" if any(place.is_attested_here for place in able) else ""
    sentence = f"Verified{until}{by}. {level}"
    step = f"Ask {organization} to renew it before then." if ends else ""
    if len(able) < len(places):
        where = ", ".join(dict.fromkeys(place.chain_name for place in able))
        return "warn", f"{sentence} You may hold {symbol} on {where} only.", step
    return "ok", sentence, step


def _level(place: InvestorEligibility) -> str:
    required = f"Level {place.required_kyc_level} is required" if place.required_kyc_level else "No level is required"
    accredited = ", and accreditation" if place.requires_accreditation else ""
    return f"{required}{accredited}."


def _next_step(place: InvestorEligibility, organization: str) -> str:
    found = place.refusals[0] if place.refusals else None
    return _filled(NEXT_STEPS.get(found.code, found.reason), organization, place.chain_name) if found else ""


def _filled(words: str, organization: str, chain: str) -> str:
    return words.replace("{organization}", organization).replace("{chain}", chain)


def refusals(found: Sequence[RefusedRule], organization: str, chain: str) -> list[str]:
    """Return why an order is refused, each reason once: what the investor can do, or else the rule's reason."""
    said = (_filled(NEXT_STEPS.get(SAME.get(one.code, one.code), one.reason), organization, chain) for one in found)
    return list(dict.fromkeys(said))


def order(row: InvestorOrder) -> str:
    """Return the open part of an order: Sell 6 of 10 NREF at 102 tUSD."""
    rest = rounded(int(row.amount) - int(row.filled), row.decimals)
    whole = rounded(row.amount, row.decimals)
    part = f"{rest} of {whole}" if rest != whole else whole
    price = f"{rounded(row.price, row.quote_decimals or 0)} {row.quote_symbol or ''}".strip()
    return f"{row.side.value.capitalize()} {part} {row.symbol} at {price}"
