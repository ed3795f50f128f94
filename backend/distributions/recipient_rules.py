"""How an asset's rules judge the recipients of a distribution. Pure functions; `compliance.rules` decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.abi.rule_sets import TokenRules
from backend.compliance.affected import reasons
from backend.compliance.rules import MAX_PER_HOLDER, Account, Standing, failures, person
from backend.core.units import grouped
from backend.distributions.recipients import Recipients

Reasons = tuple[str, ...]
"""Why the rules refuse a recipient; empty if they do not."""


@dataclass(frozen=True)
class Case:
    """What decides whether a recipient may be paid.

    `standings` has, by address, what counts under the rules and what the own organization attested. `holdings` are in
    base units, with open sell orders; the maximum per holder counts only where the asset itself is paid out, as
    `pays_asset` says. `contracts` cannot hold the token: the token and its markets.
    """

    rules: TokenRules
    symbol: str
    decimals: int
    pays_asset: bool = True
    standings: Mapping[str, tuple[Standing, Standing]] = field(default_factory=dict)
    holdings: Mapping[str, int] = field(default_factory=dict)
    treasuries: frozenset[str] = frozenset()
    contracts: frozenset[str] = frozenset()

    @property
    def most(self) -> int:
        """Return the maximum per holder that counts; 0 is unlimited."""
        return self.rules.max_tokens_per_holder if self.pays_asset else 0


def judge(case: Case, recipients: Recipients) -> list[Reasons]:
    """Return the reasons against each recipient, in their order. Recipients with the same standing are judged once."""
    known: dict[tuple[Standing, Standing, bool], Reasons] = {}
    found: list[Reasons] = []
    for address, amount in zip(recipients.addresses, recipients.amounts, strict=True):
        if address in case.treasuries:
            found.append(())
            continue
        standing, own = case.standings.get(address, _NOTHING)
        key = (standing, own, address not in case.contracts)
        if (words := known.get(key)) is None:
            account = Account(address, standing, own, can_hold=key[2])
            words = known[key] = tuple(reasons(failures(person(case.rules, account))))
        found.append(words + _over(case, address, amount))
    return found


_NOTHING = (Standing(), Standing())


def _over(case: Case, address: str, amount: int) -> Reasons:
    """Return the reason if the recipient would hold more than the maximum."""
    after = case.holdings.get(address, 0) + amount
    if not case.most or after <= case.most:
        return ()
    most, would = (f"{grouped(units, case.decimals)} {case.symbol}" for units in (case.most, after))
    return (f"{RESTRICTIONS[MAX_PER_HOLDER].message}. The recipient would hold {would}; the maximum is {most}.",)


def split(recipients: Recipients, judged: Sequence[Reasons]) -> tuple[Recipients, list[int]]:
    """Return the eligible recipients, and the positions of the others."""
    eligible = [index for index, words in enumerate(judged) if not words]
    blocked = [index for index, words in enumerate(judged) if words]
    return part(recipients, eligible), blocked


def part(recipients: Recipients, positions: Sequence[int]) -> Recipients:
    """Return the recipients at these positions."""
    return Recipients([recipients.addresses[i] for i in positions], [recipients.amounts[i] for i in positions])


def new_holders(case: Case, recipients: Recipients) -> int:
    """Return how many recipients do not hold the asset yet."""
    outside = case.treasuries | case.contracts
    return sum(1 for one in recipients.addresses if one not in outside and not case.holdings.get(one))
