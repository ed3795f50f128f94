"""Documents of an investor: their own uploads and those of staff, behind the investor's wall."""

from typing import Any

import pytest
import sqlalchemy as sa

from backend.core import db
from backend.investor_records import documents
from tests.conftest import World
from tests.investors.scene import Investor, Scene
from tests.support.firm import Firm, refused
from tests.support.specimens import pdf, picture

PDF = {"content-type": "application/pdf"}


async def known(world: World, **party: Any) -> tuple[Firm, Investor, Any]:
    """Return an organization, one of its investors, and the party that it recorded for them."""
    firm = await Firm.found(world)
    investor = await Investor.of(world, firm.id)
    return firm, investor, await firm.party(email=investor.actor.email, **party)


async def of_officer(firm: Firm, party: Any) -> list[Any]:
    """Return the party's documents as staff see them."""
    return list((await firm.admin.call("GET", f"/identity/parties/{party['id']}/documents"))["documents"])


async def test_investor_uploads_a_document_and_the_officer_sees_who_did(world: World) -> None:
    firm, investor, party = await known(world)
    made = await investor.upload(pdf(["Passport"]), params={"kind": "passport", "name": "../passport.pdf"})
    assert (made["party_id"], made["kind"], made["name"]) == (party["id"], "passport", "passport.pdf")
    assert made["is_from_investor"] is True
    [seen] = await of_officer(firm, party)
    assert (seen["id"], seen["is_from_investor"], seen["uploaded_by"]) == (
        made["id"],
        True,
        str(investor.actor.user_id),
    )
    assert seen["uploaded_by_name"]
    assert (await firm.admin.call("GET", f"/identity/parties/{party['id']}"))["status"] == "verifying"
    params = {"subject_id": party["id"], "action": "party.document_added"}
    [entry] = (await firm.get("/audit", params=params))["audit"]
    assert (entry["actor"], entry["credential"]) == (str(investor.actor.user_id), "session")
    assert entry["after"]["is_from_investor"] is True
    assert (await firm.get("/audit/verify"))["whole"] is True


async def test_investor_reads_documents_of_the_own_party_only(world: World, api: Any) -> None:
    firm, investor, party = await known(world)
    content = b"%PDF-" + bytes(range(256)) * 3000
    staff = {"content": content, "headers": PDF, "params": {"kind": "source_of_funds", "name": "funds.pdf"}}
    given = await firm.admin.call("POST", f"/identity/parties/{party['id']}/documents", **staff)
    other = await firm.party(name="Another person")
    hidden = await firm.admin.call("POST", f"/identity/parties/{other['id']}/documents", **staff)
    [shown] = (await investor.get("/documents"))["documents"]
    assert (shown["id"], shown["is_from_investor"]) == (given["id"], False)
    assert not {"uploaded_by", "uploaded_by_name"} & shown.keys(), "no one of staff is named"
    answer = await investor.answer(api, f"/investor/{investor.membership}/documents/{given['id']}")
    assert answer.content == content, "in several pieces"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "no-store" in answer.headers["cache-control"]
    await refused(investor.actor, "GET", f"/investor/{investor.membership}/documents/{hidden['id']}", 404)


async def test_investor_of_the_same_organization_cannot_read_or_add_documents(scene: Scene) -> None:
    ada, ben = scene.ada, scene.ben
    await refused(ada.actor, "GET", f"/investor/{ada.membership}/documents/{ben.document['id']}", 404)
    given = {"content": pdf(["For Ben"]), "headers": PDF}
    params = {"kind": "other", "party_id": ben.party["id"]}
    problem = await refused(ada.actor, "POST", f"/investor/{ada.membership}/documents", 404, params=params, **given)
    assert problem.detail == "You have no party with this ID."
    assert [d["id"] for d in await of_officer(scene.firm, ben.party)] == [ben.document["id"]]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"<html></html>", "application/pdf", 415),
        (picture("Ada"), "application/pdf", 415),
        (b"", "application/pdf", 422),
        (b"%PDF-" + bytes(10_485_760), "application/pdf", 413),
    ],
)
async def test_document_that_staff_could_not_upload_is_rejected(
    world: World, content: bytes, kind: str, status: int
) -> None:
    _, investor, _ = await known(world)
    path = f"/investor/{investor.membership}/documents"
    await refused(
        investor.actor, "POST", path, status, content=content, headers={"content-type": kind}, params={"kind": "other"}
    )
    assert (await investor.get("/documents"))["documents"] == []


async def test_same_document_twice_is_rejected_and_another_partys_is_stored_once(world: World) -> None:
    firm, investor, _ = await known(world)
    other = await firm.party(name="Another person")
    content = pdf(["The same"])
    staff = {"content": content, "headers": PDF, "params": {"kind": "other"}}
    await firm.admin.call("POST", f"/identity/parties/{other['id']}/documents", **staff)
    await investor.upload(content)
    path = f"/investor/{investor.membership}/documents"
    problem = await refused(investor.actor, "POST", path, 409, content=content, headers=PDF, params={"kind": "id_card"})
    assert "as passport" in problem.detail
    async with db.worker() as session:
        count = sa.text("select count(*) from party_files where organization_id = :org")
        assert await session.scalar(count, {"org": firm.id}) == 1


async def test_investor_cannot_fill_the_organizations_storage(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, investor, _ = await known(world)
    path = f"/investor/{investor.membership}/documents"
    again = {"content": pdf(["Second"]), "headers": PDF, "params": {"kind": "other"}}
    await investor.upload(pdf(["First"]))
    for name, most in (("MOST", 1), ("MOST_BYTES", 1_000)):
        with monkeypatch.context() as limited:
            limited.setattr(documents, name, most)
            problem = await refused(investor.actor, "POST", path, 409, **again)
            assert problem.detail.startswith("You can upload at most")
    assert len((await investor.get("/documents"))["documents"]) == 1


async def test_investor_without_a_party_is_told_that_the_organization_has_to_add_them(world: World) -> None:
    investor = await Investor.of(world, await world.organization())
    assert (await investor.get("/documents"))["documents"] == []
    path = f"/investor/{investor.membership}/documents"
    given = {"content": pdf(["Early"]), "headers": PDF, "params": {"kind": "other"}}
    problem = await refused(investor.actor, "POST", path, 409, **given)
    assert problem.detail.startswith("The organization has not added you as an investor yet")


async def test_investor_with_two_parties_names_the_one_that_the_document_is_for(world: World) -> None:
    firm, investor, person = await known(world)
    company = await firm.party(email=investor.actor.email, name="Lindqvist AB", kind="company")
    path = f"/investor/{investor.membership}/documents"
    given = {"content": pdf(["Register"]), "headers": PDF}
    problem = await refused(investor.actor, "POST", path, 400, params={"kind": "company_register"}, **given)
    assert "Name one" in problem.detail
    params = {"kind": "company_register", "party_id": company["id"]}
    made = await investor.actor.call("POST", path, params=params, **given)
    assert made["party_id"] == company["id"]
    assert (await of_officer(firm, person), len(await of_officer(firm, company))) == ([], 1)
