"""Findings against inviting an address."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.runtime import runtime
from backend.limits import rate_limits
from backend.members import rules
from backend.members.rules import Identity, Known
from backend.members.schemas import Severity, WarningCode
from backend.models import PartyRow
from backend.organizations.schemas import MemberRequirements
from tests.conftest import World

ALL = MemberRequirements(
    kyc_required=True,
    min_kyc_level=2,
    accreditation_required=True,
    blocked_countries=["PRK"],
    allowed_email_domains=["example.com", "münchen.de"],
)
GOOD = Identity(verified=True, kyc_level=2, country="DEU", accredited=True)


def codes(address: str, known: Known | None = None, asks: MemberRequirements = ALL) -> list[str]:
    return [str(w.code) for w in rules.findings([address], known or Known(), asks)]


def party(**changes: Any) -> Known:
    from dataclasses import replace

    return Known(parties={"a@example.com": replace(GOOD, **changes)})


@pytest.mark.parametrize(
    ("address", "known", "expected"),
    [
        ("a@example.com", party(), []),
        ("A@EXAMPLE.COM", party(), []),
        (" a@example.com ", party(), []),
        ("not an address", Known(), ["invalid_email"]),
        ("two@@example.com", Known(), ["invalid_email"]),
        ("", Known(), ["invalid_email"]),
        ("a@example.com", Known(members={"a@example.com"}), ["already_member"]),
        ("a@example.com", party(verified=False), ["kyc_missing", "accreditation_missing"]),
        ("a@example.com", party(kyc_level=1), ["kyc_level_insufficient"]),
        ("a@example.com", party(accredited=False), ["accreditation_missing"]),
        ("a@example.com", party(country="PRK"), ["jurisdiction_blocked"]),
        ("b@example.com", Known(), ["kyc_missing", "accreditation_missing", "no_account"]),
        ("b@sub.example.com", Known(), ["domain_not_allowed", "kyc_missing", "accreditation_missing", "no_account"]),
        ("b@MÜNCHEN.de", Known(), ["kyc_missing", "accreditation_missing", "no_account"]),
        ("b@xn--mnchen-3ya.de", Known(), ["kyc_missing", "accreditation_missing", "no_account"]),
    ],
)
def test_address_has_its_finding(address: str, known: Known, expected: list[str]) -> None:
    assert codes(address, known) == expected


def test_findings_without_requirements_report_only_new_people() -> None:
    assert codes("b@any.example.org", asks=MemberRequirements()) == ["no_account"]
    assert codes("b@any.example.org", asks=MemberRequirements(kyc_required=True)) == ["kyc_missing", "no_account"]


def test_pending_invitation_is_reported_beside_missing_requirements() -> None:
    found = codes("b@example.com", Known(invited={"b@example.com"}), MemberRequirements(kyc_required=True))
    assert found == ["pending_invitation", "kyc_missing"]


def test_address_in_another_spelling_is_a_duplicate() -> None:
    found = rules.findings(["b@münchen.de", "B@XN--MNCHEN-3YA.DE"], Known(), MemberRequirements())
    assert [(w.email, w.code) for w in found] == [
        ("b@münchen.de", WarningCode.NO_ACCOUNT),
        ("B@XN--MNCHEN-3YA.DE", WarningCode.DUPLICATE_IN_REQUEST),
    ]


@pytest.mark.long
@given(st.lists(st.one_of(st.emails(), st.text(max_size=40)), min_size=1, max_size=50))
def test_findings_are_ordered_by_severity(addresses: list[str]) -> None:
    found = rules.findings(addresses, Known(), ALL)
    order = [list(Severity).index(w.severity) for w in found]
    assert order == sorted(order)
    assert {w.email for w in found} == set(addresses)


async def ask(world: World, org: Any, emails: list[Any], **options: Any) -> Any:
    return await world.client.call(
        "POST", f"/orgs/{org}/members/invite-eligibility", json={"emails": emails}, **options
    )


async def test_findings_use_only_people_of_the_organization(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin = await world.person(acme, email="admin.elig@example.com")
    foreign = await world.person(other, email="foreign.elig@example.com")
    await foreign.call("POST", f"/orgs/{other}/invitations", json={"email": "guest.elig@example.com"})
    await admin.call("POST", f"/orgs/{acme}/invitations", json={"email": "Mine.Elig@example.com"})
    asks = {"kyc_required": True, "min_kyc_level": 2, "blocked_countries": ["PRK"], "seats": 5}
    await admin.call("PATCH", f"/orgs/{acme}", json={"member_requirements": asks})
    async with db.worker() as session:
        session.add_all(
            [
                PartyRow(
                    organization_id=acme,
                    name="P",
                    email="Party.Elig@Example.com",
                    country="PRK",
                    status="verified",
                    kyc_level=1,
                ),
                PartyRow(
                    organization_id=other, name="P", email="guest.elig@example.com", country="DEU", status="verified"
                ),
            ]
        )
    emails = [
        "ADMIN.elig@example.com",
        "foreign.elig@example.com",
        "guest.elig@example.com",
        "mine.elig@example.com",
        "party.elig@example.com",
        "x@",
        "x@",
    ]
    answer = await ask(world, acme, emails, cookie=admin.cookie)
    assert [(w["email"], w["code"], w["severity"]) for w in answer["warnings"]] == [
        ("ADMIN.elig@example.com", "already_member", "error"),
        ("mine.elig@example.com", "pending_invitation", "error"),
        ("x@", "invalid_email", "error"),
        ("x@", "invalid_email", "error"),
        ("foreign.elig@example.com", "kyc_missing", "warning"),
        ("guest.elig@example.com", "kyc_missing", "warning"),
        ("mine.elig@example.com", "kyc_missing", "warning"),
        ("party.elig@example.com", "jurisdiction_blocked", "warning"),
        ("party.elig@example.com", "kyc_level_insufficient", "warning"),
        ("foreign.elig@example.com", "no_account", "info"),
        ("guest.elig@example.com", "no_account", "info"),
    ]
    assert answer["orgRequirements"] == {
        "kycRequired": True,
        "minKycLevel": 2,
        "accreditationRequired": False,
        "blockedCountries": ["PRK"],
        "allowedEmailDomains": [],
        "seatsRemaining": 3,
    }


async def test_eligibility_check_is_limited_to_fifty_addresses(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.MEMBERS_READ)
    fifty = [f"p{i}@example.com" for i in range(50)]
    assert len((await ask(world, acme, fifty, headers=key))["warnings"]) == 50
    for emails in ([*fifty, "one@example.com"], [None]):
        with pytest.raises(ApiProblem) as refused:
            await ask(world, acme, emails, headers=key)
        assert refused.value.status == 422
    assert (await ask(world, acme, [], headers=key))["warnings"] == []
    assert [w["code"] for w in (await ask(world, acme, ["x" * 321], headers=key))["warnings"]] == ["invalid_email"]
    with pytest.raises(ApiProblem) as lacking:
        await ask(world, acme, fifty, headers=await world.key(acme, Scope.MEMBERS_WRITE))
    assert lacking.value.status == 403


async def test_eligibility_checks_are_limited_to_thirty_a_minute_per_organization(world: World, limits: None) -> None:
    acme, other = await world.organization(), await world.organization()
    key, others = await world.key(acme), await world.key(other)
    for _ in range(rate_limits.ELIGIBILITY.amount):
        await runtime.part(rate_limits.Counts).limiter.hit(rate_limits.ELIGIBILITY, "eligibility", str(acme))
    with pytest.raises(ApiProblem) as refused:
        await ask(world, acme, ["a@example.com"], headers=key)
    assert refused.value.status == 429
    await ask(world, other, ["a@example.com"], headers=others)
