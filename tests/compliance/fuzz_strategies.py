"""Hypothesis strategies of the fuzz test: rules, events, times, callers and amounts. Pure; numbers stand for
addresses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from backend.chain.abi.rule_sets import TokenRules
from backend.compliance.rules import Account
from backend.core.fields import MAX_UINT256, RegulationType
from tests.compliance import fuzz_events as happen
from tests.compliance.fuzz_chain import ATTESTERS, COUNTRIES, UNIT, address

EDGES: dict[str, Callable[[Account | None, Account | None, int], int]] = {
    "nothing": lambda giver, taker, most: 0,
    "a unit": lambda giver, taker, most: UNIT,
    "the giver's balance": lambda giver, taker, most: giver.balance if giver else 0,
    "what is not frozen": lambda giver, taker, most: giver.balance - giver.frozen if giver else 0,
    "what the giver owns": lambda giver, taker, most: giver.holding if giver else 0,
    "what is frozen": lambda giver, taker, most: giver.frozen if giver else 0,
    "the taker's room": lambda giver, taker, most: most - taker.holding if taker else 0,
    "what the taker owns": lambda giver, taker, most: taker.holding if taker else 0,
    "everything": lambda giver, taker, most: MAX_UINT256,
}


@dataclass(frozen=True)
class Amount:
    """A value at a limit, or next to it."""

    edge: str
    beside: int

    def of(self, giver: Account | None, taker: Account | None, most: int) -> int:
        """Amounts in base units; `most` is the maximum per holder."""
        return min(max(EDGES[self.edge](giver, taker, most) + self.beside, 0), MAX_UINT256)


@dataclass(frozen=True)
class Plan:
    """A scene and its questions: every sender with every receiver, and every trader at every market on both sides, each
    with every amount. Rules and `later` have times in seconds from the start of the scene."""

    rules: TokenRules
    happenings: list[tuple[Any, ...]]
    later: int
    givers: list[int]
    takers: list[int]
    traders: list[int]
    venues: list[int]
    amounts: list[Amount]


def _mostly(often: st.SearchStrategy[Any], seldom: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The first two times of three, so that much is allowed too."""
    return st.integers(0, 2).flatmap(lambda n: seldom if n == 2 else often)


ZERO = st.just(0)
BLOCKED = st.lists(st.sampled_from(COUNTRIES), max_size=2, unique=True).map(lambda found: tuple(sorted(found)))
RULES = st.builds(
    TokenRules,
    regulation_type=st.sampled_from(list(RegulationType)),
    min_kyc_level=_mostly(st.integers(0, 1), st.integers(2, 4)),
    requires_accreditation=_mostly(st.just(False), st.booleans()),
    blocked_countries=_mostly(st.just(()), BLOCKED),
    lockup_end_time=_mostly(ZERO, st.integers(1, 200_000)),
    max_holders=_mostly(ZERO, st.integers(1, 16)),
    max_tokens_per_holder=_mostly(ZERO, st.integers(1, 100).map(lambda n: n * UNIT)),
    org_only=_mostly(st.just(False), st.booleans()),
    trusted_issuers=_mostly(st.just(()), st.just((address("foreign"),))),
)
WHO = st.integers(0, 21)
"""An address of `Ground.addresses`, by number modulo their count."""
WHOLE = st.integers(0, 80).map(lambda n: n * UNIT)
ATTESTER = st.sampled_from(sorted(ATTESTERS))
HAPPENINGS = st.one_of(
    st.tuples(st.just(happen.mint), WHO, st.one_of(st.just(1), WHOLE)),
    st.tuples(st.just(happen.take), WHO, WHO, st.integers(1, 2)),
    st.tuples(st.just(happen.freeze), WHO, st.one_of(st.sampled_from([0, 1, MAX_UINT256]), WHOLE)),
    st.tuples(
        st.just(happen.attest),
        ATTESTER,
        WHO,
        st.integers(1, 4),
        st.sampled_from(COUNTRIES),
        st.booleans(),
        _mostly(ZERO, st.integers(2, 5_000)),
    ),
    st.tuples(st.just(happen.revoke), st.integers(0, 40)),
    st.tuples(st.just(happen.appoint), ATTESTER, st.integers(0, 4)),
    st.tuples(st.just(happen.pause)),
    st.tuples(st.just(happen.halt), st.integers(0, 3), st.booleans()),
    st.tuples(st.just(happen.venue), st.integers(0, 3), st.booleans()),
    st.tuples(st.just(happen.sell), WHO, st.integers(0, 3), st.integers(1, 3)),
)
AMOUNTS = st.builds(Amount, edge=st.sampled_from(list(EDGES)), beside=st.sampled_from([0, 1, -1]))


def _some(who: st.SearchStrategy[int], most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(who, min_size=1, max_size=most, unique=True)


PLANS = st.builds(
    Plan,
    rules=RULES,
    happenings=st.lists(HAPPENINGS, max_size=14),
    later=st.integers(0, 5_000),
    givers=_some(WHO, 10),
    takers=_some(WHO, 10),
    traders=_some(WHO, 10),
    venues=_some(st.integers(0, 3), 3),
    amounts=st.lists(AMOUNTS, min_size=1, max_size=4, unique=True),
)
