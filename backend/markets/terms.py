"""A market's own rules: those of the request, the rest from the asset."""

from typing import Any

from backend.assets.rules import Terms, countries
from backend.chain.abi.rule_sets import MarketRules
from backend.markets.models import MarketRow
from backend.markets.schemas import MarketCreate


def columns(body: MarketCreate, terms: Terms) -> dict[str, Any]:
    """Return the rule columns of a new market."""
    rules = terms.compliance_rules
    inherited: dict[str, Any] = {
        "regulation_type": terms.regulation_type,
        "min_kyc_level": terms.required_kyc_level,
        "requires_accreditation": rules.requires_accreditation,
        "blocked_countries": list(rules.blocked_countries),
        "lockup_end_time": rules.lockup_end_time,
        "max_holders": terms.max_holders,
        "max_tokens_per_holder": rules.max_tokens_per_holder,
    }
    given = {name: getattr(body, name) for name in inherited}
    chosen = {name: inherited[name] if value is None else value for name, value in given.items()}
    return {**chosen, "max_tokens_per_holder": int(chosen["max_tokens_per_holder"])}


def market_rules(market: MarketRow) -> MarketRules:
    """Return the rules in the contract's format."""
    return MarketRules(
        regulation_type=market.regulation_type,
        min_kyc_level=market.min_kyc_level,
        requires_accreditation=market.requires_accreditation,
        blocked_countries=countries(market.blocked_countries),
        lockup_end_time=market.lockup_end_time,
        max_holders=market.max_holders,
        max_tokens_per_holder=market.max_tokens_per_holder or 0,
    )
