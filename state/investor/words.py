"""Sentences of the investor's pages. Pure functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo

from backend.investors.schemas import InvestorEligibility, InvestorOrder, Lapse, RefusedRule
from state.core.units import priced, shortened
from state.investor.amounts import tokens

BECAUSE = {
    3: ("this address cannot hold tokens", "{organization} can record another wallet for you."),
    9: (
        "{organization} has not verified you yet",
        "{organization} needs documents to verify you, such as a passport and proof of address.",
    ),
    10: ("it accepts verifications by {organization} only", "Ask {organization} to verify you."),
    11: (
        "{needed}",
        "Upload documents for a new review. {organization} can tell you which it needs.",
    ),
    12: ("only accredited investors may hold it", "{organization} can record your accreditation."),
    13: ("investors of your country may not hold it", ""),
    15: ("you hold more of it than one investor may hold", "{organization} can tell you what to do."),
}
"""Why an investor may not hold an asset, and what they can do, by the code of the rule that refuses them."""
NOT_ATTESTED = 9
UNVERIFIED = (NOT_ATTESTED, 10)
"""Rules for which it matters whether an earlier verification ended, or does not cover the asset."""
ELSEWHERE = (
    "{organization} has not recorded your verification for it",
    "{enough}{organization} can record it for this asset too.",
)
"""Why an investor who was verified for other assets may not hold one."""
BY_DOCUMENTS = (NOT_ATTESTED, 11)
"""Rules that the investor can satisfy with documents."""
SOON = timedelta(days=90)
"""How long before the end of a verification the investor has to renew it."""
LAPSES: dict[Lapse | None, tuple[str, str]] = {
    Lapse.EXPIRED: ("your verification expired on {date}", "Ask {organization} to renew it."),
    Lapse.REVOKED: ("{organization} withdrew your verification", "Contact {organization} to find out why."),
}
AT_ORDER = {
    1: "This asset cannot be traded now: {organization} has paused it.",
    2: "This asset cannot be traded yet: {organization} has not set its rules.",
    3: "This wallet cannot hold tokens. {organization} can record another one for you.",
    4: "Your wallet holds less than this order needs.",
    5: "{organization} has frozen your tokens or a part of them. What is not frozen is less than this order needs.",
    6: "You may sell from {date}, when the lock-up ends.",
    9: "{organization} has not verified you for this wallet, or no longer. Contact them.",
    10: "Only a verification by {organization} counts for this asset. Contact them.",
    11: "A higher verification level is required. Ask {organization} for a new review.",
    12: "Only accredited investors may hold it. {organization} can record your accreditation.",
    13: "Investors of your country may not hold it.",
    14: "The asset has as many holders as it may have. Investors who hold it already can buy more.",
    15: "You would hold more than one investor may hold. Enter a smaller amount.",
}
"""Why an order is refused and what an investor can do, by the code of the rule."""
SAME = {7: 9, 8: 13, 33: 9, 34: 11, 35: 12, 36: 13, 37: 6, 38: 14, 39: 15}
"""Rules about a seller and of a market, for which an investor can do the same as for another rule."""
_UNIX = re.compile(r"Unix time (\d+)")


def day(at: datetime, zone: tzinfo = UTC) -> str:
    """Return a date in a time zone: 14 March 2027."""
    return f"{at.astimezone(zone).day} {at.astimezone(zone):%B %Y}"


def month(text: str) -> str:
    """Return a month, such as 2027-03: March 2027."""
    return f"{datetime.fromisoformat(f'{text}-01'):%B %Y}"


@dataclass(frozen=True)
class Reader:
    """The investor who reads the sentences: where they invest, and how far the organization has verified them."""

    organization: str
    level: int = 0
    accredited: bool = False
    zone: tzinfo = UTC
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class Verdict:
    """Whether the investor may hold an asset. `where` says in which part of the places, if not in all. `uploads`:
    documents help."""

    tone: str
    sentence: str
    next_step: str
    where: str = ""
    uploads: bool = False


def verdict(
    places: Sequence[InvestorEligibility], reader: Reader, all_places: Sequence[InvestorEligibility] = ()
) -> Verdict:
    """Return the verdict about one asset from its places (a chain and an address each). `all_places`: those of all
    assets."""
    symbol, able = places[0].symbol, [place for place in places if place.eligible]
    if not able:
        return _refused(places, reader, all_places or places)
    ends = sorted(place.valid_until for place in able if place.valid_until is not None)
    until = f" until {day(ends[0], reader.zone)}" if ends else ""
    by = f" by {reader.organization}" if any(place.is_attested_here for place in able) else ""
    sentence = f"Verified{until}{by}. {_needed(able[0], able[0].kyc_level, reader.accredited)}"
    step = f"Ask {reader.organization} to renew it before then." if ends and ends[0] - SOON <= reader.now else ""
    where = "" if len(able) == len(places) else _part(symbol, able, places)
    return Verdict("warn" if where else "ok", sentence, step, where)


def with_freeze(found: Verdict) -> Verdict:
    """Return the verdict about an asset of which the investor's whole holding is frozen."""
    tone = "warn" if found.tone == "ok" else found.tone
    return replace(found, tone=tone, next_step=f"Your holding is frozen. {found.next_step}".strip())


def _refused(
    places: Sequence[InvestorEligibility], reader: Reader, all_places: Sequence[InvestorEligibility]
) -> Verdict:
    is_held, codes = any(place.is_held for place in places), {one.code for one in places[0].refusals}
    why, step, uploads = _because(places[0], reader, all_places)
    may = ("buy or sell" if NOT_ATTESTED in codes else "receive more") if is_held else "hold"
    sentence = f"You may not {may} {places[0].symbol} now{f', because {why}' if why else ''}."
    if is_held:
        return Verdict("bad", sentence, f"{step} Your tokens stay in your wallet.".strip(), uploads=uploads)
    return Verdict("off", sentence, step, uploads=uploads)


def _part(symbol: str, able: Sequence[InvestorEligibility], places: Sequence[InvestorEligibility]) -> str:
    """Say where an investor may hold an asset, who may not hold it everywhere."""
    chains = list(dict.fromkeys(place.chain_name for place in able))
    if set(chains) != {place.chain_name for place in places}:
        return f"You may hold {symbol} on {', '.join(chains)} only."
    wallets = ", ".join(dict.fromkeys(shortened(place.address) for place in able))
    return f"You may hold {symbol} in your wallet {wallets} only."


def _needed(place: InvestorEligibility, level: int, accredited: bool) -> str:
    """Say what the investor has and what an asset needs: `You have level 1; NHLT needs level 2 and accreditation.`"""
    if not place.required_kyc_level:
        return "Only accredited investors may hold it." if place.requires_accreditation else "No level is required."
    own = f"level {level}" if level else "no level"
    own = f"{own} and accreditation" if place.requires_accreditation and accredited else own
    accredited_too = " and accreditation" if place.requires_accreditation else ""
    return f"You have {own}; {place.symbol} needs level {place.required_kyc_level}{accredited_too}."


def _because(
    place: InvestorEligibility, reader: Reader, all_places: Sequence[InvestorEligibility]
) -> tuple[str, str, bool]:
    """Return why an investor may not hold an asset, what to do, and whether documents help."""
    found = place.refusals[0] if place.refusals else None
    if found is None:
        return "", "", False
    code, ended, level = found.code, place, place.kyc_level
    pair = BECAUSE.get(code)
    if code in UNVERIFIED:
        ended = next((one for one in (place, *all_places) if one.lapse), place)
        is_verified = any(one.is_attested_here for one in all_places)
        if is_verified and not place.lapse:
            level = max(reader.level, *(one.kyc_level for one in all_places))
            is_enough = level >= place.required_kyc_level and (reader.accredited or not place.requires_accreditation)
            code, pair = (code, ELSEWHERE) if is_enough else (11, BECAUSE[11])
        else:
            pair = LAPSES.get(ended.lapse, pair)
    if pair is None:
        return "", found.reason, False
    facts = {"organization": reader.organization}
    needed = _needed(place, level, reader.accredited).removesuffix(".")
    facts["enough"] = f"{needed}, which is enough. " if place.required_kyc_level else ""
    facts["needed"] = needed[:1].lower() + needed[1:].replace("; ", ", and ")
    facts["date"] = day(ended.lapsed_at, reader.zone) if ended.lapsed_at else ""
    return pair[0].format(**facts), pair[1].format(**facts), code in BY_DOCUMENTS and pair is BECAUSE[code]


def refusals(found: Sequence[RefusedRule], organization: str, zone: tzinfo = UTC) -> list[str]:
    """Return why an order is refused, each reason once: what the investor can do, or else the rule's reason."""
    return list(dict.fromkeys(_refusal(one, organization, zone) for one in found))


def _refusal(one: RefusedRule, organization: str, zone: tzinfo) -> str:
    said = AT_ORDER.get(SAME.get(one.code, one.code), one.reason)
    ends = _UNIX.search(one.reason)
    date = day(datetime.fromtimestamp(int(ends[1]), UTC), zone) if ends else "the end of the lock-up"
    return said.replace("{organization}", organization).replace("{date}", date)


def order(row: InvestorOrder) -> str:
    """Return the open part of an order: Sell 6 of 10 NREF at 102.00 tUSD."""
    rest = tokens(int(row.amount) - int(row.filled), row.decimals)
    whole = tokens(row.amount, row.decimals)
    part = f"{rest} of {whole}" if rest != whole else whole
    price = f"{priced(row.price, row.quote_decimals or 0)} {row.quote_symbol or ''}".strip()
    return f"{row.side.value.capitalize()} {part} {row.symbol} at {price}"
