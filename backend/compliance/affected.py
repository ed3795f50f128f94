"""Who a change of rules affects. Pure functions; only `compliance.rules` decides."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.compliance import rules
from backend.compliance.rules import Account, evaluate_order, failures, person
from backend.compliance.schemas import RuleVerdict

SAME_AS = {
    rules.MARKET_NOT_ATTESTED: rules.RECEIVER_NOT_ATTESTED,
    rules.MARKET_KYC_LEVEL: rules.RECEIVER_KYC_LEVEL,
    rules.MARKET_ACCREDITATION: rules.RECEIVER_ACCREDITATION,
    rules.MARKET_COUNTRY_BLOCKED: rules.RECEIVER_COUNTRY_BLOCKED,
    rules.MARKET_MAX_PER_HOLDER: rules.MAX_PER_HOLDER,
}
"""Rules of a market that ask the same as a rule of its token: one failure is counted once."""
UNATTESTED = {rules.RECEIVER_NOT_ATTESTED, rules.ORG_ONLY}
"""Nothing is attested that counts: no other rule about attestations can be evaluated."""
ATTESTED = {
    rules.MARKET_NOT_ATTESTED,
    rules.MARKET_KYC_LEVEL,
    rules.MARKET_ACCREDITATION,
    rules.MARKET_COUNTRY_BLOCKED,
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that an account must satisfy on one chain: the token's, and those of a market that it trades in."""

    token: TokenRules
    market: MarketRules | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The failed rules of an account, under the rules before and after."""

    before: tuple[RuleVerdict, ...]
    after: tuple[RuleVerdict, ...]

    @property
    def lost(self) -> list[RuleVerdict]:
        """Return the rules that the account satisfies now, and not afterwards."""
        had = {_kind(v) for v in self.before}
        return [v for v in self.after if _kind(v) not in had]


def judged(old: Rules, new: Rules, before: Account, after: Account) -> Judged:
    """Return how the rules judge a holder. `before` and `after` are the same account, with the standings that count
    under the old and the new rules."""
    return Judged(tuple(_holding(old, before)), tuple(_holding(new, after)))


def reasons(verdicts: Iterable[RuleVerdict]) -> list[str]:
    """Return the reasons, each once."""
    return list(dict.fromkeys(v.reason for v in verdicts))


def _kind(verdict: RuleVerdict) -> int:
    return SAME_AS.get(verdict.code, verdict.code)


def _holding(each: Rules, account: Account) -> list[RuleVerdict]:
    """Return the failed rules of a holder: of the token, and of a market if there is one."""
    found = failures(person(each.token, account))
    if each.market is None or account.is_treasury:
        return found
    had = {v.code for v in found}
    moot = had | (ATTESTED if had & UNATTESTED else set())
    on_market = failures(evaluate_order(each.token, each.market, account, True, 0, 0))
    return found + [v for v in on_market if _kind(v) not in had and v.code not in moot]


def order_failures(token: TokenRules, market: MarketRules, maker: Account, is_buy: bool, now: int) -> list[RuleVerdict]:
    """Return the rules that keep a resting order from being filled, even in part, because of its maker; each once.

    A buy is judged for one base unit, because any part may be filled; a sale without an amount, because the market
    holds the tokens.
    """
    found: dict[int, RuleVerdict] = {}
    for verdict in failures(evaluate_order(token, market, maker, is_buy, 1 if is_buy else 0, now)):
        found.setdefault(_kind(verdict), verdict)
    return list(found.values())


def stricter(market: MarketRules, token: MarketRules) -> list[str]:
    """Return the names of the rules of a market that refuse more than those of its token or asset."""
    worse = {
        "min_kyc_level": market.min_kyc_level > token.min_kyc_level,
        "requires_accreditation": market.requires_accreditation and not token.requires_accreditation,
        "blocked_countries": not set(market.blocked_countries) <= set(token.blocked_countries),
        "lockup_end_time": market.lockup_end_time > token.lockup_end_time,
        "max_holders": 0 < market.max_holders < (token.max_holders or market.max_holders + 1),
        "max_tokens_per_holder": 0
        < market.max_tokens_per_holder
        < (token.max_tokens_per_holder or market.max_tokens_per_holder + 1),
    }
    return [name for name, is_worse in worse.items() if is_worse]


def able_buyers(token: TokenRules, market: MarketRules, accounts: Iterable[Account]) -> list[Account]:
    """Return the accounts that may buy in a market under these rules."""
    return [a for a in accounts if not failures(evaluate_order(token, market, a, True, 0, 0))]
