"""What has changed between the plan at the request and the current one: pure comparison of two plans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

IDENTITY = (
    "field", "action", "name", "address", "wallet_address", "chain_eid", "market_id", "order_id", "distribution_id",
    "recipient", "rule", "id",
)  # fmt: skip
"""Fields that identify an entry of a list, where it has them."""
IGNORED = frozenset(
    {
        "as_of",
        "gas_estimate",
        "address_name",
        "symbol",
        "decimals",
        "fee",
        "fingerprint",
        "needs_second_person",
        "sender_name",
        "receiver_name",
    }
)
"""Fields that say how the plan was made, or describe others."""
LISTED, MISSING = "listed", "not listed"


@dataclass(frozen=True)
class Difference:
    """A value that differs. `path` are the names that lead to it; `entry` is the innermost entry of a list that
    contains it. A value of None is absent."""

    path: tuple[str, ...]
    entry: Mapping[str, Any]
    before: Any
    after: Any

    @property
    def name(self) -> str:
        """Return the name of the value: `balance` for the amount of a changed balance."""
        own = self.path[-1]
        return str(self.entry.get("field", own)) if own in ("before", "after") else own


def differences(before: Any, now: Any) -> list[Difference]:
    """Return the values that differ between two plans, in the order of the plan.

    Of a planned change, only the value that it starts from counts: the other one follows from it.
    """
    return list(_compared(before, now, (), {}))


def _compared(before: Any, now: Any, path: tuple[str, ...], entry: Mapping[str, Any]) -> Iterator[Difference]:
    if before == now:
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        names = [name for name in {**before, **now} if name not in IGNORED]
        starts_elsewhere = before.get("before") != now.get("before")
        for name in names:
            if not (name == "after" and starts_elsewhere):
                yield from _compared(before.get(name), now.get(name), (*path, name), entry)
    elif _has_entries(before) and _has_entries(now):
        yield from _entries(before or [], now or [], path)
    else:
        yield Difference(path, entry, before, now)


def _has_entries(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(one, Mapping) for one in value))


def _entries(before: list[Any], now: list[Any], path: tuple[str, ...]) -> Iterator[Difference]:
    old, new = _by_identity(before), _by_identity(now)
    for key in {**old, **new}:
        one, other = old.get(key), new.get(key)
        if one is None or other is None:
            yield Difference(
                path, other or one or {}, LISTED if one is not None else MISSING, LISTED if other else MISSING
            )
        else:
            yield from _compared(one, other, path, other)


def _by_identity(entries: list[Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for entry in entries:
        key: tuple[Any, ...] = tuple((name, str(entry[name])) for name in IDENTITY if entry.get(name) is not None)
        found[(*key, sum(1 for known in found if known[: len(key)] == key))] = entry
    return found


def label(difference: Difference, words: Callable[[str], str], chains: Mapping[int, str]) -> str:
    """Return what differs: `Balance of Kestrel Pension Trust, Sepolia`. `words` gives the label of a field."""
    entry = difference.entry
    address = entry.get("address") or entry.get("wallet_address") or entry.get("maker_address") or ""
    whose = entry.get("address_name") or entry.get("name") or entry.get("maker_name") or address
    place = entry.get("chain_name") or chains.get(entry.get("chain_eid", 0), "")
    what = words(difference.name)
    return ", ".join(part for part in (f"{what} of {whose}" if whose else what, place) if part)
