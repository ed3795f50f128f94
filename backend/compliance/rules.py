"""Whether a movement is allowed: the decisions of `RWAToken.checkTransfer` and `Market.checkOrder`, in Python.

Same codes (contracts/restrictions.json), same results, no I/O: on the same facts, this module decides what the contract
decides. A rule that the contract does not evaluate (such as the level of an account without attestation) has no verdict
here either.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.compliance.countries import country_name
from backend.compliance.schemas import RuleVerdict
from backend.core.addresses import ZERO_ADDRESS

PAUSED, RULES_NOT_SET, INVALID_RECEIVER, INSUFFICIENT_BALANCE, FROZEN, LOCKUP = 1, 2, 3, 4, 5, 6
SENDER_NOT_ATTESTED, SENDER_COUNTRY_BLOCKED, RECEIVER_NOT_ATTESTED, ORG_ONLY = 7, 8, 9, 10
RECEIVER_KYC_LEVEL, RECEIVER_ACCREDITATION, RECEIVER_COUNTRY_BLOCKED, MAX_HOLDERS, MAX_PER_HOLDER = 11, 12, 13, 14, 15
MARKET_HALTED, MARKET_NOT_ATTESTED, MARKET_KYC_LEVEL, MARKET_ACCREDITATION = 32, 33, 34, 35
MARKET_COUNTRY_BLOCKED, MARKET_LOCKUP, MARKET_MAX_HOLDERS, MARKET_MAX_PER_HOLDER = 36, 37, 38, 39

_MESSAGE_SAYS_ALL = frozenset(
    {
        PAUSED,
        RULES_NOT_SET,
        INVALID_RECEIVER,
        SENDER_NOT_ATTESTED,
        RECEIVER_NOT_ATTESTED,
        ORG_ONLY,
        MARKET_HALTED,
        MARKET_NOT_ATTESTED,
    }
)
"""Rules whose facts are given only if they pass."""
WHOLLY_FROZEN = 2**255
"""From this frozen amount on, the whole account is frozen, future receipts included: it exceeds any supply, also after
a forced transfer took part of it."""
Finding = tuple[int, bool, str]
"""A code, whether its rule passes, and the facts as text."""


class MarketRules(Protocol):
    """The rules of a market; 0 means no limit."""

    @property
    def min_kyc_level(self) -> int: ...  # noqa: D102
    @property
    def requires_accreditation(self) -> bool: ...  # noqa: D102
    @property
    def blocked_countries(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def lockup_end_time(self) -> int: ...  # noqa: D102
    @property
    def max_holders(self) -> int: ...  # noqa: D102
    @property
    def max_tokens_per_holder(self) -> int: ...  # noqa: D102


class Rules(MarketRules, Protocol):
    """The rules of a token."""

    @property
    def org_only(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Standing:
    """The combined content of an account's valid attestations that count."""

    found: bool = False
    level: int = 0
    accredited: bool = False
    accredited_level: int = 0
    countries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """One side of a movement. Amounts in base units; `holding` is the balance plus what markets hold for the account.

    `standing` counts every attester that the token trusts, `own_standing` those of its own organization.
    """

    address: str
    standing: Standing = Standing()
    own_standing: Standing = Standing()
    balance: int = 0
    holding: int = 0
    frozen: int = 0
    is_treasury: bool = False
    can_hold: bool = True
    """Return False for the zero address, the token itself and markets."""


@dataclass(frozen=True, slots=True)
class TokenState:
    """The token's state, regardless of who moves it."""

    paused: bool = False
    has_rules: bool = True
    holder_count: int = 0


def evaluate(
    rules: Rules, sender: Account | None, receiver: Account, amount: int, now: int, state: TokenState = TokenState()
) -> list[RuleVerdict]:
    """Evaluate every rule of a transfer (of a mint, without a sender) at Unix time `now`, in the order of the codes."""
    findings = [*_general(state), *_receiver(rules, receiver), *_limits(rules, sender, receiver, amount, state)]
    if sender is not None:
        findings += [*_sender(rules, sender, now), *_available(sender, amount)]
    return _verdicts(findings)


def evaluate_order(
    rules: Rules,
    market: MarketRules,
    trader: Account,
    is_buy: bool,
    amount: int,
    now: int,
    state: TokenState = TokenState(),
    halted: bool = False,
) -> list[RuleVerdict]:
    """Evaluate every rule of token and market that an order must satisfy when it is placed."""
    standing = trader.own_standing if rules.org_only else trader.standing
    findings = [(MARKET_HALTED, not halted, "The market is open."), *_trader(market, trader, standing)]
    if is_buy:
        findings += [*_general(state), *_receiver(rules, trader), *_limits(rules, None, trader, amount, state)]
        findings += _market_limits(market, trader, amount, state)
    else:
        findings += [*_general(state), *_sender(rules, trader, now), *_available(trader, amount)]
        if not trader.is_treasury:
            findings.append((MARKET_LOCKUP, now >= market.lockup_end_time, _lockup_words(market.lockup_end_time, now)))
    return _verdicts(findings)


def failures(verdicts: Sequence[RuleVerdict]) -> list[RuleVerdict]:
    """Return the failed verdicts."""
    return [v for v in verdicts if not v.passed]


def person(rules: Rules, account: Account) -> list[RuleVerdict]:
    """Evaluate an account as a holder, independent of a movement: attestation, level, country, maximum."""
    over = rules.max_tokens_per_holder and account.holding > rules.max_tokens_per_holder
    if account.is_treasury:
        return []
    return _verdicts(
        [
            *_receiver(rules, account),
            (MAX_PER_HOLDER, not over, f"The account holds {account.holding} base units."),
        ]
    )


def payer(rules: Rules, account: Account, now: int) -> list[RuleVerdict]:
    """Evaluate an account as a sender to others, independent of amount and receiver: lock-up, attestation, country."""
    return _verdicts([*_sender(rules, account, now)])


def _general(state: TokenState) -> Iterator[Finding]:
    yield PAUSED, not state.paused, "The token is not paused."
    yield RULES_NOT_SET, state.has_rules, "The token's rules are set."


def _sender(rules: Rules, sender: Account, now: int) -> Iterator[Finding]:
    if sender.is_treasury:
        return
    yield LOCKUP, now >= rules.lockup_end_time, _lockup_words(rules.lockup_end_time, now)
    yield SENDER_NOT_ATTESTED, sender.standing.found, "The sender is attested."
    if sender.standing.found:
        yield _country(SENDER_COUNTRY_BLOCKED, "sender", rules, sender.standing)


def _available(sender: Account, amount: int) -> Iterator[Finding]:
    balance = sender.balance if sender.can_hold else 0
    yield (
        INSUFFICIENT_BALANCE,
        amount <= balance,
        f"The balance is {balance} base units; the amount is {amount} base units.",
    )
    free = max(balance - sender.frozen, 0)
    frozen = "The sender's whole account is frozen." if sender.frozen >= WHOLLY_FROZEN else None
    words = frozen or f"{sender.frozen} base units of the sender are frozen."
    yield FROZEN, not sender.frozen or amount <= free, words


def _receiver(rules: Rules, receiver: Account) -> Iterator[Finding]:
    yield INVALID_RECEIVER, receiver.can_hold, "The receiver can hold the token."
    if not receiver.can_hold or receiver.is_treasury:
        return
    standing = receiver.standing
    yield RECEIVER_NOT_ATTESTED, standing.found, "The receiver is attested."
    if not standing.found:
        return
    yield _country(RECEIVER_COUNTRY_BLOCKED, "receiver", rules, standing)
    if rules.org_only:
        standing = receiver.own_standing
        yield ORG_ONLY, standing.found, "The asset's own organization attested the receiver."
        if not standing.found:
            return
    yield from _qualified((RECEIVER_KYC_LEVEL, RECEIVER_ACCREDITATION), rules, standing)


def _trader(market: MarketRules, trader: Account, standing: Standing) -> Iterator[Finding]:
    if trader.is_treasury:
        return
    yield MARKET_NOT_ATTESTED, standing.found, "The trader is attested."
    if standing.found:
        yield from _qualified((MARKET_KYC_LEVEL, MARKET_ACCREDITATION), market, standing)
        yield _country(MARKET_COUNTRY_BLOCKED, "trader", market, standing)


def _qualified(codes: tuple[int, int], rules: MarketRules, standing: Standing) -> Iterator[Finding]:
    level = f"The KYC level is {standing.level}; {rules.min_kyc_level} is required."
    yield codes[0], standing.level >= rules.min_kyc_level, level
    if rules.requires_accreditation:
        kept = standing.accredited and standing.accredited_level >= rules.min_kyc_level
        yield codes[1], kept, f"Accredited at KYC level {standing.accredited_level}." if standing.accredited else ""
    else:
        yield codes[1], True, "No accreditation is required."


def _country(code: int, who: str, rules: MarketRules, standing: Standing) -> Finding:
    blocked = sorted(set(standing.countries) & set(rules.blocked_countries))
    words = (
        f"Blocked: {_names(blocked)}."
        if blocked
        else f"The {who}'s country ({_names(standing.countries)}) is not blocked."
    )
    return code, not blocked, words


def _limits(
    rules: Rules, sender: Account | None, receiver: Account, amount: int, state: TokenState
) -> Iterator[Finding]:
    source = sender.address if sender is not None else ZERO_ADDRESS
    if amount == 0 or source == receiver.address or receiver.is_treasury:
        return
    leaves = sender is not None and not sender.is_treasury and 0 < sender.holding == amount
    yield from _caps((MAX_HOLDERS, MAX_PER_HOLDER), rules, receiver, amount, state, leaves)


def _market_limits(market: MarketRules, buyer: Account, amount: int, state: TokenState) -> Iterator[Finding]:
    if not buyer.is_treasury:
        yield from _caps((MARKET_MAX_HOLDERS, MARKET_MAX_PER_HOLDER), market, buyer, amount, state, leaves=False)


def _caps(
    codes: tuple[int, int], rules: MarketRules, receiver: Account, amount: int, state: TokenState, leaves: bool
) -> Iterator[Finding]:
    after = state.holder_count + (receiver.holding == 0) - leaves
    fits = not rules.max_holders or receiver.holding != 0 or after <= rules.max_holders
    yield codes[0], fits, f"{after} holders afterwards; the maximum is {rules.max_holders or 'unlimited'}."
    most, would = rules.max_tokens_per_holder, receiver.holding + amount
    yield (
        codes[1],
        not most or would <= most,
        f"{would} base units afterwards; the maximum per holder is {f'{most} base units' if most else 'unlimited'}.",
    )


def _names(countries: Iterable[str]) -> str:
    return ", ".join(sorted({country_name(code) for code in countries}))


def _lockup_words(end: int, now: int) -> str:
    return f"It ends at Unix time {end}." if end > now else "There is no lock-up."


def _verdicts(findings: Sequence[Finding]) -> list[RuleVerdict]:
    return [_verdict(*f) for f in sorted(findings, key=lambda f: f[0])]


def _verdict(code: int, passed: bool, words: str) -> RuleVerdict:
    restriction = RESTRICTIONS[code]
    facts = "" if code in _MESSAGE_SAYS_ALL else words
    reason = words if passed else f"{restriction.message}. {facts}".strip()
    return RuleVerdict(rule=restriction.rule, passed=passed, code=code, reason=reason)
