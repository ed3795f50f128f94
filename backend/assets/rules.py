"""Rules of assets. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from backend.assets.schemas import AssetStatus, AssetUpdate, RuleChange
from backend.caps.schemas import CapRule, CapShare
from backend.compliance.schemas import ComplianceRules
from backend.core.errors import BadRequest, Conflict
from backend.core.fields import RegulationType

SHARED_DECIMALS = 6
MAX_SHARED = 2**64 - 1
"""The largest supply that can be bridged, in units of six decimals."""


class Terms(BaseModel):
    """The fields of an asset that are rules on chain."""

    regulation_type: RegulationType = RegulationType.NONE
    compliance_rules: ComplianceRules = ComplianceRules()
    max_holders: int = 0
    required_kyc_level: int = 0
    org_only: bool = False
    cap_shares: tuple[CapShare, ...] = ()
    """The shares of the caps that a person set for each chain; none where they are calculated."""

    @property
    def caps(self) -> dict[CapRule, int]:
        """Return the caps; 0 is no limit."""
        return {
            CapRule.MAX_HOLDERS: self.max_holders,
            CapRule.MAX_TOKENS: int(self.compliance_rules.max_tokens_per_holder),
        }

    def flat(self) -> dict[str, Any]:
        """Return the fields that are rules, those of compliance_rules by dotted names."""
        fields = self.model_dump(mode="json", exclude={"cap_shares"})
        nested = fields.pop("compliance_rules")
        return fields | {f"compliance_rules.{name}": value for name, value in nested.items()}


def merged(terms: Terms, patch: AssetUpdate, now: int) -> Terms:
    """Return the terms after a JSON merge patch. A new cap is shared equally again. Raises BadRequest if a new lock-up
    ends in the past."""
    given = patch.model_dump(exclude_unset=True, include=set(Terms.model_fields))
    given["compliance_rules"] = terms.compliance_rules.model_copy(update=given.get("compliance_rules"))
    after = terms.model_copy(update=given)
    if after.compliance_rules.lockup_end_time != terms.compliance_rules.lockup_end_time:
        check_lockup(after.compliance_rules.lockup_end_time, now, "/compliance_rules/lockup_end_time")
    return after if after.caps == terms.caps else after.model_copy(update={"cap_shares": ()})


def changes(before: Terms, after: Terms) -> list[RuleChange]:
    """Return the differences, field by field."""
    old, new = before.flat(), after.flat()
    return [RuleChange(field=name, before=old[name], after=new[name]) for name in old if old[name] != new[name]]


def check_lockup(end: int, now: int, pointer: str) -> None:
    """Raise 400 if a lock-up ends in the past; 0 means no lock-up."""
    if 0 < end <= now:
        raise BadRequest("The lock-up ends in the past. Set a later time, or 0 for no lock-up.", pointer=pointer)


def check_supply(amount: int, decimals: int) -> None:
    """Raise 400 if a supply exceeds a token's maximum."""
    if amount // 10 ** (decimals - SHARED_DECIMALS) > MAX_SHARED:
        most = MAX_SHARED * 10 ** (decimals - SHARED_DECIMALS)
        raise BadRequest(
            (f"A supply with {decimals} decimals can be at most {most} base units."), pointer="/initial_supply"
        )


def check_updatable(status: AssetStatus) -> None:
    """Raise 409 if an asset cannot be changed now."""
    if status in (AssetStatus.ARCHIVED, AssetStatus.DRAFT, AssetStatus.DEPLOYING):
        raise Conflict(f"The asset is {status}. Only an active asset can be changed.")


def check_archivable(status: AssetStatus) -> None:
    """Raise 409 if an asset cannot be archived: a token on chain cannot be removed."""
    if status not in (AssetStatus.DRAFT, AssetStatus.FAILED):
        raise Conflict(f"The asset is {status}. Only a draft or failed asset can be archived.")


@dataclass(frozen=True)
class Held:
    """Holdings on each chain without the treasury, by endpoint ID: the number of holders, and the largest holding."""

    holders: Mapping[int, int] = field(default_factory=dict)
    largest: Mapping[int, int] = field(default_factory=dict)

    @property
    def used(self) -> Mapping[CapRule, Mapping[int, int]]:
        """Return how much of each cap the chains use."""
        return {CapRule.MAX_HOLDERS: self.holders, CapRule.MAX_TOKENS: self.largest}


NOTHING = Held()


def share(cap: int, chains: Sequence[int], eid: int, used: Mapping[int, int]) -> int:
    """Return a chain's share of a cap over several chains. 0 stays unlimited.

    The shares sum to the cap and are as equal as possible, but none is less than what its chain already uses (`used`);
    the oldest chain gets the remainder. If more than the cap is used, the shares are equal, and accounts above them
    keep their holdings. `chains` are in the order of deployment.

    Raises Conflict if a chain would get no share: 0 would mean unlimited there.
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
    """Return a chain's share of the maximum number of holders. If that number is exceeded, no chain accepts new
    holders; on a chain without holders the share is then 1, because 0 would mean unlimited."""
    part = share(cap, chains, eid, used)
    return min(part, max(used.get(eid, 0), 1)) if _taken(chains, used) > cap > 0 else part


def _taken(chains: Sequence[int], used: Mapping[int, int]) -> int:
    return sum(used.get(eid, 0) for eid in chains)


def _unshareable(cap: int, chains: Sequence[int], used: Mapping[int, int]) -> str:
    there = _taken(chains, used)
    taken = f" while {there} of it is taken already" if there else ""
    return f"A maximum of {cap} cannot be shared among {len(chains)} chains{taken}. Raise it, or set 0 for no maximum."


def countries(values: Iterable[str]) -> tuple[str, ...]:
    """Return a country list in its canonical order on chain."""
    return tuple(sorted(values))
