"""Decisions about assets. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from backend.assets.schemas import AssetStatus, AssetUpdate, RuleChange
from backend.compliance.schemas import ComplianceRules
from backend.errors import BadRequest, Conflict, Invalid
from backend.fields import RegulationType

SHARED_DECIMALS = 6
MAX_SHARED = 2**64 - 1
"""The largest supply that can cross to another chain, in units of six decimals."""


class Terms(BaseModel):
    """What of an asset is a rule on chain."""

    regulation_type: RegulationType = RegulationType.NONE
    compliance_rules: ComplianceRules = ComplianceRules()
    max_holders: int = 0
    required_kyc_level: int = 0
    org_only: bool = False

    def flat(self) -> dict[str, Any]:
        """The fields, those of compliance_rules by dotted names."""
        fields = self.model_dump(mode="json")
        nested = fields.pop("compliance_rules")
        return fields | {f"compliance_rules.{name}": value for name, value in nested.items()}


_DEFAULTS: Mapping[str, Any] = Terms().model_dump()


def merged(terms: Terms, patch: AssetUpdate, now: int) -> Terms:
    """The terms after a JSON merge patch; null takes a field back to its default.

    Raises Invalid where `compliance_rules` would not fit its schema, BadRequest where a new lockup ends in the past.
    """
    given = patch.model_dump(exclude_unset=True)
    plain = given.keys() & (_DEFAULTS.keys() - {"compliance_rules"})
    values = {name: _DEFAULTS[name] if given[name] is None else given[name] for name in plain}
    if "compliance_rules" in given:
        values["compliance_rules"] = _merged_rules(terms.compliance_rules, given["compliance_rules"])
    after = terms.model_copy(update=values)
    if after.compliance_rules.lockup_end_time != terms.compliance_rules.lockup_end_time:
        check_lockup(after.compliance_rules.lockup_end_time, now, "/compliance_rules/lockup_end_time")
    return after


def _merged_rules(rules: ComplianceRules, patch: Mapping[str, Any] | None) -> ComplianceRules:
    if patch is None:
        return ComplianceRules()
    fields = {n: v for n, v in {**rules.model_dump(), **patch}.items() if v is not None}
    try:
        return ComplianceRules.model_validate(fields)
    except ValidationError as error:
        raise Invalid([_finding(e) for e in error.errors()]) from None


def _finding(error: Any) -> dict[str, str]:
    pointer = "/compliance_rules" + "".join(f"/{part}" for part in error["loc"])
    words = "is not a field of this body" if error["type"] == "extra_forbidden" else str(error["msg"])
    return {"pointer": pointer, "detail": words.removeprefix("Value error, ")}


def changes(before: Terms, after: Terms) -> list[RuleChange]:
    """What differs, field by field."""
    old, new = before.flat(), after.flat()
    return [RuleChange(field=name, before=old[name], after=new[name]) for name in old if old[name] != new[name]]


def check_lockup(end: int, now: int, pointer: str) -> None:
    """400 where a lockup would have ended before it began; 0 is none."""
    if 0 < end <= now:
        raise BadRequest("The lockup ends in the past; 0 means no lockup.", pointer=pointer)


def check_supply(amount: int, decimals: int) -> None:
    """400 where a supply is more than a token can have."""
    if amount // 10 ** (decimals - SHARED_DECIMALS) > MAX_SHARED:
        most = MAX_SHARED * 10 ** (decimals - SHARED_DECIMALS)
        raise BadRequest(f"A supply of {decimals} decimals is at most {most} base units.", pointer="/initial_supply")


def check_updatable(status: AssetStatus) -> None:
    """409 where an asset cannot be changed now."""
    if status in (AssetStatus.ARCHIVED, AssetStatus.DRAFT, AssetStatus.DEPLOYING):
        raise Conflict(f"The asset is {status}; it can be changed when it is active.")


def check_archivable(status: AssetStatus) -> None:
    """409 where an asset cannot be archived: what lives on a chain cannot be taken back."""
    if status not in (AssetStatus.DRAFT, AssetStatus.FAILED):
        raise Conflict(f"The asset is {status}; only a draft or a failed asset can be archived.")


@dataclass(frozen=True)
class Held:
    """What there is on each chain beside the treasury, by endpoint id: how many hold, and the most that one holds."""

    holders: Mapping[int, int] = field(default_factory=dict)
    largest: Mapping[int, int] = field(default_factory=dict)


NOTHING = Held()


def share(cap: int, chains: Sequence[int], eid: int, used: Mapping[int, int]) -> int:
    """A chain's part of a cap that holds over several chains. 0 stays unlimited.

    The parts sum to the cap and are as equal as can be while none is less than what a chain has of it already (`used`);
    what is left over goes to the oldest. Where more than the cap is used, they are equal: who is above it stays there.
    `chains` are in the order of deployment.

    Raises Conflict where nothing is left for a chain: a part of 0 would mean unlimited there.
    """
    if cap == 0:
        return 0
    there = {} if _taken(chains, used) > cap else used
    full: dict[int, int] = {}
    while rest := [other for other in chains if other not in full]:
        each, more = divmod(cap - sum(full.values()), len(rest))
        parts = {other: each + (place < more) for place, other in enumerate(rest)}
        over = {other: there[other] for other in rest if there.get(other, 0) > parts[other]}
        if not over and not all(parts.values()):
            raise Conflict(_unshareable(cap, chains, there))
        full |= over or parts
    return full[eid]


def holders_share(cap: int, chains: Sequence[int], eid: int, used: Mapping[int, int]) -> int:
    """A chain's part of a maximum of holders. Where more than that hold already, nobody more may anywhere; where none
    do, one: 0 would mean unlimited."""
    part = share(cap, chains, eid, used)
    return min(part, max(used.get(eid, 0), 1)) if _taken(chains, used) > cap > 0 else part


def _taken(chains: Sequence[int], used: Mapping[int, int]) -> int:
    return sum(used.get(eid, 0) for eid in chains)


def _unshareable(cap: int, chains: Sequence[int], used: Mapping[int, int]) -> str:
    there = _taken(chains, used)
    taken = f" while {there} of it is taken already" if there else ""
    return f"A maximum of {cap} cannot be shared among {len(chains)} chains{taken}; raise it, or set 0 for none."


def countries(values: Iterable[str]) -> tuple[str, ...]:
    """A country list in the one order it has on chain."""
    return tuple(sorted(values))
