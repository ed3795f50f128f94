"""Documents of parties: stored once and sealed, shown to permitted roles, and their effect on a review."""

import hashlib
import re
import struct
import zlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.encryption import DOCUMENTS, CannotUnseal
from backend.core.settings import settings
from backend.parties import documents
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused
from tests.support.specimens import pdf, picture

PARTIES = "/identity/parties"
PDF = {"content-type": "application/pdf"}
PASSPORT = pdf(["Marta Lindqvist", "Passport"])
CARD = picture("Marta Lindqvist")


@pytest_asyncio.fixture(scope="module")
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: files are not JSON."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=f"{settings().origin}/v1") as client:
        yield client


async def upload(who: Actor, party: Any, content: bytes = PASSPORT, kind: str = "passport", **options: Any) -> Any:
    """A valid document."""
    options = {"headers": PDF, "params": {"kind": kind}} | options
    return await who.call("POST", f"{PARTIES}/{party['id']}/documents", content=content, **options)


async def status_of(firm: Firm, party: Any) -> str:
    return str((await firm.admin.call("GET", f"{PARTIES}/{party['id']}"))["status"])


async def listed(firm: Firm, party: Any) -> list[Any]:
    return list((await firm.admin.call("GET", f"{PARTIES}/{party['id']}/documents"))["documents"])


async def test_first_document_starts_the_review_and_a_decision_ends_it(world: World) -> None:
    firm = await Firm.found(world)
    party, other = await firm.party(), await firm.party()
    made = await upload(firm.admin, party, params={"kind": "passport", "name": "passport.pdf"})
    assert await status_of(firm, party) == "verifying"
    assert (made["kind"], made["name"], made["media_type"]) == ("passport", "passport.pdf", "application/pdf")
    assert (made["size"], made["sha256"]) == (len(PASSPORT), hashlib.sha256(PASSPORT).hexdigest())
    assert made["uploaded_by"] == str(firm.admin.user_id)
    assert made["uploaded_by_name"]
    await upload(firm.admin, party, CARD, "id_card", headers={"content-type": "image/png"})
    assert [d["kind"] for d in await listed(firm, party)] == ["id_card", "passport"]
    await firm.admin.call("POST", f"{PARTIES}/{party['id']}/verify", json={})
    assert await status_of(firm, party) == "verified"
    await upload(firm.admin, party, pdf(["later"]), "source_of_funds")
    assert await status_of(firm, party) == "verified"
    await upload(firm.admin, other)
    await firm.admin.call("POST", f"{PARTIES}/{other['id']}/reject", json={"reason": "Blurred."})
    await upload(firm.admin, other, CARD, headers={"content-type": "image/png"})
    assert await status_of(firm, other) == "rejected"


@pytest.mark.parametrize("content", [PASSPORT, CARD, b"%PDF-" + bytes(range(256)) * 3000], ids=["pdf", "png", "pieces"])
async def test_document_download_equals_the_upload(world: World, http: httpx.AsyncClient, content: bytes) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    made = await upload(firm.admin, party, content, headers={"content-type": "application/octet-stream"})
    path = f"{PARTIES}/{party['id']}/documents/{made['id']}"
    answer = await http.get(path, headers={"cookie": firm.admin.cookie})
    assert answer.content == content
    assert int(answer.headers["content-length"]) == len(content) == made["size"]
    assert answer.headers["content-type"] == made["media_type"]
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "no-store" in answer.headers["cache-control"]
    assert "sandbox" in answer.headers["content-security-policy"]
    head = await http.head(path, headers=firm.key)
    assert (head.status_code, head.content) == (200, b"")


async def test_document_content_is_stored_once_per_organization(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    first, second = await firm.party(), await firm.party()
    made = [await upload(firm.admin, first), await upload(firm.admin, second, kind="other")]
    problem = await refused(
        firm.admin, "POST", f"{PARTIES}/{first['id']}/documents", 409, content=PASSPORT, headers=PDF,
        params={"kind": "id_card"},
    )  # fmt: skip
    assert "as passport" in problem.detail
    made.append(await upload(other.admin, await other.party()))
    assert len({d["sha256"] for d in made}) == 1
    async with db.worker() as session:
        found = await session.execute(
            sa.text("select organization_id, count(*) from party_files where sha256 = :hash group by 1"),
            {"hash": made[0]["sha256"]},
        )
        counts = {row[0]: row[1] for row in found}
    assert {k: v for k, v in counts.items() if k in (firm.id, other.id)} == {firm.id: 1, other.id: 1}


async def test_document_is_sealed_at_rest_and_bound_to_its_place(world: World) -> None:
    firm = await Firm.found(world)
    made = await upload(firm.admin, await firm.party(), b"%PDF-" + b"PASSPORT" * 40_000)
    async with db.worker() as session:
        found = await session.execute(
            sa.text("select p.number, p.sealed from party_file_parts p where p.organization_id = :org order by 1"),
            {"org": firm.id},
        )
        parts = [bytes(row.sealed) for row in found]
    assert len(parts) == 2
    assert not any(b"PASSPORT" in part for part in parts)
    place, other = documents.place(firm.id, made["sha256"], 0, 2), documents.place(firm.id, made["sha256"], 1, 2)
    assert DOCUMENTS.unseal(parts[0], place).startswith(b"%PDF-PASSPORT")
    for elsewhere in (other, documents.place(uuid4(), made["sha256"], 0, 2)):
        with pytest.raises(CannotUnseal):
            DOCUMENTS.unseal(parts[0], elsewhere)
    key = settings().home / "secret.key"
    assert key.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"<html><script>alert(1)</script></html>", "application/pdf", 415),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", 415),
        (b"GIF89a", "application/octet-stream", 415),
        (b" %PDF-1.4", "application/pdf", 415),
        (PASSPORT, "image/png", 415),
        (PASSPORT, "text/html", 415),
        (b'{"file": "x"}', "application/json", 415),
        (b"", "application/pdf", 422),
        (b"%PDF-" + bytes(10_485_760), "application/pdf", 413),
        (b"x" * 1_048_577, "application/json", 413),
    ],
)
async def test_document_of_another_type_is_rejected_and_not_stored(
    world: World, content: bytes, kind: str, status: int
) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    path = f"{PARTIES}/{party['id']}/documents"
    headers = {"content-type": kind}
    await refused(firm.admin, "POST", path, status, content=content, headers=headers, params={"kind": "other"})
    assert (await status_of(firm, party), await listed(firm, party)) == ("created", [])


async def test_document_of_ten_megabytes_is_accepted(world: World) -> None:
    firm = await Firm.found(world)
    made = await upload(firm.admin, await firm.party(), b"%PDF-" + bytes(10_485_755))
    assert made["size"] == 10_485_760


@pytest.mark.parametrize("params", [{}, {"kind": "selfie"}, {"kind": "other", "name": "a\nb"}, {"kind": ""}])
async def test_document_without_a_known_kind_is_rejected(world: World, params: dict[str, str]) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    path = f"{PARTIES}/{party['id']}/documents"
    await refused(firm.admin, "POST", path, 400, content=PASSPORT, headers=PDF, params=params)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd.pdf"),
        ("C:\\Users\\x\\scan.PDF", "scan.PDF"),
        ("page.html", "page.html.pdf"),
        ("Pass «Åsa» \"x\".pdf", "Pass «Åsa» \"x\".pdf"),
        ("..", "passport.pdf"),
    ],
)  # fmt: skip
async def test_document_name_is_sanitized(world: World, http: httpx.AsyncClient, sent: str, kept: str) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    made = await upload(firm.admin, party, params={"kind": "passport", "name": sent})
    assert made["name"] == kept
    answer = await http.get(f"{PARTIES}/{party['id']}/documents/{made['id']}", headers=firm.key)
    disposition = answer.headers["content-disposition"]
    assert re.fullmatch(r"attachment; filename=\"[^\"\\\r\n]+\"; filename\*=UTF-8''[\w.%~-]+", disposition)


async def test_documents_are_visible_to_staff_only(world: World, http: httpx.AsyncClient) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    party, foreign = await firm.party(), await other.party()
    made = await upload(firm.admin, party)
    path = f"{PARTIES}/{party['id']}/documents"
    viewer, officer = await world.person(firm.id, Role.VIEWER), await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    for cookie in (viewer.cookie, officer.cookie):
        assert (await http.get(f"{path}/{made['id']}", headers={"cookie": cookie})).content == PASSPORT
    await upload(officer, party, CARD, headers={"content-type": "image/png"})
    given = {"content": pdf(["x"]), "headers": PDF, "params": {"kind": "other"}}
    assert (await refused(viewer, "POST", path, 403, **given)).type.endswith("insufficient-scope")
    client = await world.person(firm.id, Role.CLIENT)
    of_firm = {"organization_id": str(firm.id)}
    for method, where in (("GET", path), ("GET", f"{path}/{made['id']}")):
        await refused(other.admin, method, where, 404)
        await refused(other.admin, method, where, 403, params=of_firm)
        await refused(client, method, where, 403, params=of_firm)
    reader = await world.key(firm.id, Scope.ATTESTATIONS_WRITE)
    assert (await http.get(f"{path}/{made['id']}", headers=reader)).status_code == 403
    crossed = f"{PARTIES}/{foreign['id']}/documents/{made['id']}"
    await refused(other.admin, "GET", crossed, 404)
    assert (await http.get(path)).status_code == 401


async def test_document_upload_from_another_origin_is_refused(world: World, http: httpx.AsyncClient) -> None:
    firm = await Firm.found(world)
    path = f"{PARTIES}/{(await firm.party())['id']}/documents?kind=other"
    sent = {"cookie": firm.admin.cookie, **PDF}
    for headers in (sent, sent | {"origin": "https://evil.example"}):
        assert (await http.post(path, content=PASSPORT, headers=headers)).status_code == 403
    assert (await http.post(path, content=PASSPORT, headers=sent | {"origin": settings().origin})).status_code == 201


async def test_document_upload_with_the_same_key_is_stored_once(world: World) -> None:
    firm = await Firm.found(world)
    party = await firm.party()
    first = await upload(firm.admin, party, idempotency_key="one")
    assert await upload(firm.admin, party, idempotency_key="one") == first
    problem = await refused(
        firm.admin, "POST", f"{PARTIES}/{party['id']}/documents", 422, content=CARD, idempotency_key="one",
        headers={"content-type": "image/png"}, params={"kind": "passport"},
    )  # fmt: skip
    assert "different request body" in problem.detail


@pytest.mark.long
async def test_party_under_review_counts_as_unverified_with_a_resolution(world: World) -> None:
    firm = await Firm.issuing(world)
    party = await firm.party("0x52908400098527886E0F7030069857D2E4169EE7")
    await upload(firm.admin, party)
    body = {"party_id": party["id"], "chain_eid": 40161}
    problem = await firm.refused("POST", "/attestations", 409, json=body)
    states = {p["state"]: p for p in problem.prerequisites}
    assert {s: p["satisfied"] for s, p in states.items()} == {
        "party_exists": True, "party_verified": False, "chain_enabled": True, "attestation_eligible": True,
    }  # fmt: skip
    assert "verifying" in states["party_verified"]["detail"]
    call = states["party_verified"]["resolution"]
    await firm.admin.call(call["method"], call["path"], json={})
    assert (await firm.attest(party))["status"] == "active"


def test_specimen_documents_are_valid_files() -> None:
    assert PASSPORT.startswith(b"%PDF-")
    assert PASSPORT.rstrip().endswith(b"%%EOF")
    at = int(PASSPORT.split(b"startxref\n")[1].split(b"\n")[0])
    assert PASSPORT[at:].startswith(b"xref")
    at, kinds, data = 8, [], b""
    while at < len(CARD):
        size, kind = struct.unpack(">I4s", CARD[at : at + 8])
        content, check = CARD[at + 8 : at + 8 + size], CARD[at + 8 + size : at + 12 + size]
        assert struct.unpack(">I", check)[0] == zlib.crc32(kind + content)
        kinds.append(kind)
        data += content if kind == b"IDAT" else b""
        at += 12 + size
    assert kinds == [b"IHDR", b"tEXt", b"IDAT", b"IEND"]
    assert len(zlib.decompress(data)) == 200 * (1 + 320 * 3)
