"""The plan of a dry run, of whichever operation, as words: steps, what changes, what else to know."""

from dataclasses import dataclass, field
from typing import Any

from backend.client import ApiProblem
from state.record_values import Values
from state.references import References

TOLD_APART = (
    "changes",
    "warnings",
    "holders_excluded",
    "markets",
    "rules",
    "access",
    "nodes",
    "holdings",
    "needs_second_person",
)
ADDRESS = 42
"""Characters of an address; a long one is shortened."""


@dataclass
class Plan:
    """`facts` are dicts of name and value, `changes` of name, old and new."""

    steps: list[str] = field(default_factory=list)
    facts: list[dict[str, str]] = field(default_factory=list)
    changes: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Plans(References, mixin=True):
    """Mixin of a state that shows plans."""

    _values: Values = Values()

    async def _plan(self, told: dict[str, Any] | None, subject: dict[str, Any]) -> Plan:
        """A plan as the API tells it, of a subject (`{type, id}`); an empty one for None."""
        if told is None:
            return Plan()
        await self._read_known()
        impact = told["impact"]
        self._values = self._known.about(subject, await self._asset_of(subject) | impact)
        facts = [*impact.items(), *(impact.get("rules") or {}).items()]
        return Plan(
            steps=[self._step(one) for one in told["steps"]],
            facts=[self._fact(n, v) for n, v in facts if n not in TOLD_APART and v not in (None, [])],
            changes=[self._change(one) for one in impact.get("changes", [])],
            warnings=[*impact.get("warnings", []), *_fallen(impact), *_halted(impact), *_held(impact)],
        )

    async def _asset_of(self, subject: dict[str, Any]) -> dict[str, Any]:
        """The asset of a transfer or bridge, as its record has it; nothing where that cannot be read."""
        if subject["type"] not in ("transfer", "bridge"):
            return {}
        try:
            record = await self._api("GET", f"/orgs/{{org}}/{subject['type']}s/{subject['id']}")
        except ApiProblem:
            return {}  # amounts are then in base units, which says so
        return {"asset_id": record["asset_id"]}

    def _step(self, step: Any) -> str:
        return step if isinstance(step, str) else f"{step['title']} on {step['chain_name']}"

    def _fact(self, name: str, value: Any) -> dict[str, str]:
        return {"name": words(name), "value": self._value(name, value)}

    def _change(self, told: dict[str, Any]) -> dict[str, str]:
        what = told.get("field") or told.get("action")
        about = [words(what)] if what else []
        about += [short(told["address"])] if told.get("address") else []
        about += [self._values.read("chain_eid", told["chain_eid"])] if told.get("chain_eid") else []
        old, new = (self._value(told.get("field") or "balance", told[side]) for side in ("before", "after"))
        return {"name": ", ".join(about), "old": old, "new": new}

    def _value(self, name: str, value: Any) -> str:
        if isinstance(value, list):
            return ", ".join(self._value(name, one) for one in value)
        if isinstance(value, dict):
            return ", ".join(f"{words(n)} {self._value(n, v)}" for n, v in value.items())
        return short(self._values.read(name.rpartition(".")[2], value))


def words(name: str) -> str:
    """A field's name for people: `compliance_rules.max_tokens_per_holder` is "Max tokens per holder"."""
    plain = name.rpartition(".")[2].replace("_", " ").replace(" eid", "").replace("kyc", "KYC")
    return plain[:1].upper() + plain[1:]


def short(value: str) -> str:
    """An address by its ends; anything else as it is."""
    return f"{value[:6]}…{value[-4:]}" if value.startswith("0x") and len(value) >= ADDRESS else value


def _fallen(impact: dict[str, Any]) -> list[str]:
    return [
        f"{one['name'] or short(one['wallet_address'])} falls out: {' '.join(one['reasons'])}"
        for one in impact.get("holders_excluded", [])
    ]


def _halted(impact: dict[str, Any]) -> list[str]:
    return [f"A market halts. {one['reason']}" for one in impact.get("markets", []) if one["halts"]]


def _held(impact: dict[str, Any]) -> list[str]:
    count = len(impact.get("holdings", []))
    return [f"The wallet holds {count} asset{'s' if count > 1 else ''}."] if count else []
