"""The plan of any operation's dry run as text: steps, changes and further facts."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from backend.client import ApiProblem
from backend.requests.schemas import Subject
from state.core.record_values import Unit, Values
from state.core.references import References
from state.core.units import shortened, with_short_amounts

TOLD_APART = (
    "asset_id",
    "currency_decimals",
    "changes",
    "effects",
    "warnings",
    "holders_excluded",
    "market_id",
    "markets",
    "rules",
    "access",
    "nodes",
    "holdings",
    "needs_second_person",
    "source_chain_name",
    "destination_chain_name",
    "sender_address",
    "sender_name",
    "receiver_address",
    "receiver_name",
    "fee",
    "fee_currency",
    "fingerprint",
)
WHOLE = 2**255
"""Frozen amounts from this on mean the whole account."""
ADDRESS = 42
"""Characters of an address, which is shortened."""


@dataclass
class Plan:
    """`facts` are dicts of name and value, `changes` of name, old and new, with the exact amounts as `old_full` and
    `new_full`.
    """

    steps: list[str] = field(default_factory=list)
    facts: list[dict[str, str]] = field(default_factory=list)
    changes: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Plans(References, mixin=True):
    """Mixin of a state that shows plans."""

    _values: Values = Values()

    async def _plan(self, plan: BaseModel | None, subject: Subject) -> Plan:
        """Convert the response to any operation's dry run about a subject; None gives an empty plan."""
        if plan is None:
            return Plan()
        data = plan.model_dump(mode="json", by_alias=True)
        await self._read_known()
        impact = data["impact"]
        self._values = self._known.about(subject.model_dump(mode="json"), await self._asset_of(subject) | impact)
        facts = [*impact.items(), *(impact.get("rules") or {}).items()]
        return Plan(
            steps=[self._step(one) for one in data["steps"]],
            facts=[self._fact(n, v) for n, v in facts if n not in TOLD_APART and v not in (None, [])],
            changes=[self._change(one) for one in impact.get("changes", [])],
            warnings=[
                *impact.get("warnings", []),
                *_ineligible(impact),
                *_unable(impact),
                *_halted(impact),
                *_held(impact),
            ],
        )

    async def _asset_of(self, subject: Subject) -> dict[str, Any]:
        """Return the asset of a transfer or bridge; empty if it cannot be read."""
        try:
            if subject.type == "transfer":
                return {"asset_id": str((await self._api.get_transfer(self._org_id(), subject.id)).asset_id)}
            if subject.type == "bridge":
                return {"asset_id": str((await self._api.get_bridge(self._org_id(), subject.id)).asset_id)}
        except ApiProblem:
            pass  # amounts are then labeled as base units
        return {}

    def _step(self, step: Any) -> str:
        return step if isinstance(step, str) else f"{step['title']} on {step['chain_name']}"

    def _fact(self, name: str, value: Any) -> dict[str, str]:
        return {"name": words(name), "value": self._value(name, value)}

    def _change(self, data: dict[str, Any]) -> dict[str, str]:
        what = data.get("field") or data.get("action")
        whose = data.get("address_name") or short(data.get("address") or "")
        about = [f"{words(what)} of {whose}" if whose else words(what)] if what else [whose] if whose else []
        about += [self._values.read("chain_eid", data["chain_eid"])] if data.get("chain_eid") else []
        old, new = (self._changed(data, data[side]) for side in ("before", "after"))
        exact = {"old_full": old, "new_full": new}
        return {"name": ", ".join(about), "old": with_short_amounts(old), "new": with_short_amounts(new), **exact}

    def _changed(self, data: dict[str, Any], value: Any) -> str:
        """Return one side of a change: in its own unit where it names one, otherwise in that of its subject."""
        name = data.get("field") or "balance"
        if data.get("decimals") is None or value is None:
            return self._value(name, value)
        if name == "frozen" and int(value) >= WHOLE:
            return "the whole account"
        return Unit(data.get("symbol") or "", data["decimals"]).of(value)

    def _value(self, name: str, value: Any) -> str:
        if isinstance(value, list):
            return ", ".join(self._value(name, one) for one in value)
        if isinstance(value, dict):
            return ", ".join(f"{words(n)} {self._value(n, v)}" for n, v in value.items())
        return short(self._values.read(name.rpartition(".")[2], value))


def words(name: str) -> str:
    """Return a field's displayed name: `compliance_rules.max_tokens_per_holder` is "Max tokens per holder"."""
    plain = name.rpartition(".")[2].replace("_", " ").replace(" eid", "").replace("kyc", "KYC")
    return plain[:1].upper() + plain[1:]


def short(value: str) -> str:
    """Shorten an address; return other text unchanged."""
    return shortened(value) if value.startswith("0x") and len(value) >= ADDRESS else value


def _ineligible(impact: dict[str, Any]) -> list[str]:
    return [
        f"{one['name'] or short(one['wallet_address'])} becomes ineligible: {' '.join(one['reasons'])}"
        for one in (impact.get("effects") or impact).get("holders_excluded", [])
    ]


def _unable(impact: dict[str, Any]) -> list[str]:
    return [
        f"{one['name'] or short(one['wallet_address'])} cannot pay: {' '.join(one['reasons'])}"
        for one in (impact.get("effects") or {}).get("distributions_unable", [])
    ]


def _halted(impact: dict[str, Any]) -> list[str]:
    return [f"A market halts. {one['reason']}" for one in impact.get("markets", []) if one["halts"]]


def _held(impact: dict[str, Any]) -> list[str]:
    count = len(impact.get("holdings", []))
    return [f"The wallet holds {count} asset{'s' if count > 1 else ''}."] if count else []
