"""From the refusal of a contract to the call that removes its cause. Pure functions.

The calls and their words are those of a refusal before acceptance. What is known by now, such as the account that the
contract refused, is filled in, and a `title` names the action.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from backend.bridges import rules as bridges
from backend.chain.errors import Reverted
from backend.compliance import rules
from backend.compliance.resolution_fields import BY_ATTESTATION
from backend.compliance.resolutions import resolution_of, review
from backend.core.problems.resolutions import call
from backend.core.units import shortened

Call = dict[str, Any]
ACCOUNTS: Final = {
    rules.SENDER_NOT_ATTESTED: "from",
    rules.SENDER_COUNTRY_BLOCKED: "from",
    rules.FROZEN: "from",
}
"""The argument of a token's refusal with the account that a rule is about; of the others it is `to`."""
_NEW_ATTESTATION: Final = frozenset({rules.SENDER_NOT_ATTESTED, rules.RECEIVER_NOT_ATTESTED, rules.MARKET_NOT_ATTESTED})


@dataclass(frozen=True)
class Place:
    """A token that refused, or whose market did: its asset and its chain. `chains` are the names of all chains."""

    organization_id: UUID
    asset_id: UUID
    symbol: str
    eid: int
    chains: Mapping[int, str]
    amount: int = 0
    """What the request bridges, in base units."""

    @property
    def chain(self) -> str:
        """Return the chain's name."""
        return self.chains[self.eid]


@dataclass(frozen=True)
class Person:
    """The account that a contract refused, with its name and party where the organization knows them."""

    address: str
    name: str | None = None
    party_id: UUID | None = None
    is_revoked: bool = False
    """Whether its latest attestation on this chain was revoked."""

    @property
    def words(self) -> str:
        """Return its name, or its short address."""
        return self.name or shortened(self.address)


def code_of(refusal: Reverted) -> int | None:
    """Return the code of the rule that refused; the token's own pause is one too."""
    return rules.PAUSED if refusal.name == "EnforcedPause" else refusal.code


def account_of(refusal: Reverted) -> str | None:
    """Return the account that a refusal is about."""
    arguments = refusal.arguments
    return arguments.get("account") or arguments.get(ACCOUNTS.get(code_of(refusal) or 0, "to"))


def resolution(refusal: Reverted, place: Place, person: Person | None) -> Call | None:
    """Return the call that removes the cause of a refusal; None if none does."""
    if refusal.name in ("PathPaused", "PathLimited"):
        return _of_path(refusal, place)
    if refusal.name == "NotAttester":
        path = f"/orgs/{place.organization_id}/issuer/register"
        return call("POST", path, "Register the organization as an issuer.") | {"title": "Register as issuer"}
    code = code_of(refusal)
    return None if code is None else _of_rule(code, place, person)


def of_bridge(organization_id: UUID, bridge_id: UUID) -> Call:
    """Return the call that shows a failed bridge, which can be retried or returned."""
    words = "Read why the bridge failed, then retry it or return its supply."
    return call("GET", f"/orgs/{organization_id}/bridges/{bridge_id}", words) | {"title": "Open the bridge"}


def _of_rule(code: int, place: Place, person: Person | None) -> Call:
    if person and person.party_id and person.is_revoked and code in BY_ATTESTATION:
        reviewed = review(place.organization_id, person.party_id)
        return reviewed.model_dump(mode="json", exclude={"href"}) | {"title": f"Review the case of {person.words}"}
    fields = {"address": person.address} if person else {}
    if person and person.party_id:
        fields["party_id"] = str(person.party_id)
    found = resolution_of(code, place.organization_id, place.asset_id, place.eid, **fields)
    answer = found.model_dump(mode="json", exclude={"href"})
    return answer | ({"title": title} if (title := _title(code, place, person)) else {})


def _title(code: int, place: Place, person: Person | None) -> str:
    """Return the action in a few words; none where no call resolves the rule."""
    if code in BY_ATTESTATION:
        who = person.words if person else "the account"
        if person and not person.party_id:
            return f"Register {who} as a party"
        return f"Attest {who} on {place.chain}" if code in _NEW_ATTESTATION else f"Verify {who} again"
    if code == rules.FROZEN:
        return f"Unfreeze {person.words if person else 'the account'} on {place.chain}"
    return {
        rules.PAUSED: f"Unpause {place.symbol} on {place.chain}",
        rules.RULES_NOT_SET: f"Set the rules of {place.symbol}",
        rules.LOCKUP: f"Change the lock-up of {place.symbol}",
        rules.SENDER_COUNTRY_BLOCKED: f"Change the blocked countries of {place.symbol}",
        rules.RECEIVER_COUNTRY_BLOCKED: f"Change the blocked countries of {place.symbol}",
        rules.MAX_HOLDERS: f"Raise the maximum holders of {place.symbol}",
        rules.MAX_PER_HOLDER: f"Raise the maximum per holder of {place.symbol}",
    }.get(code, "")


def _of_path(refusal: Reverted, place: Place) -> Call | None:
    other = int(refusal.arguments.get("eid", 0))
    if other not in place.chains:
        return None
    names = (place.chain, place.chains[other])
    path = bridges.Path(names, (place.eid, other), f"/orgs/{place.organization_id}/assets/{place.asset_id}")
    between = f"between {names[0]} and {names[1]}"
    if refusal.name == "PathPaused":
        return path.resumed() | {"title": f"Resume the path {between}"}
    return path.limited(str(place.amount)) | {"title": f"Raise the limit of the path {between}"}
