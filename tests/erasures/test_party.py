"""`signum erase party`: no trace of the party is left, and the audit log can be verified."""

from typing import Any
from urllib.parse import quote_plus
from uuid import uuid4

import httpx
import psycopg
import pytest

from backend.core import db
from backend.core.settings import settings
from backend.mail.models import Cause, mail
from backend.mail.schemas import MailKind
from backend.server import runtime
from tests.audit.test_log import tamper
from tests.conftest import World
from tests.erasures.traces import everything, traces
from tests.parties.test_documents import upload
from tests.support.firm import Firm
from tests.support.operator import command
from tests.support.specimens import pdf

NAME, EMAIL = "Zofia Grønlund-Ödegaard", "zofia.gron@example.net"
REASON = "Request 4711"
TABLES = ("parties", "party_documents", "party_files", "party_file_parts", "audit_log", "audit_heads", "requests",
          "outbox", "form_drafts", "saved_views", "wallets")  # fmt: skip


class Written:
    """A party whose name is in many places of its organization."""

    def __init__(self, firm: Firm, party: Any) -> None:
        self.firm, self.party = firm, party

    @classmethod
    async def made(cls, world: World, firm: Firm | None = None, wallet: str | None = None) -> "Written":
        firm = firm or await Firm.found(world)
        party = await firm.party(wallet, name=NAME, email=EMAIL)
        await upload(firm.admin, party, content=pdf([uuid4().hex]), params={"kind": "passport", "name": f"{NAME}.pdf"})
        one = f"/identity/parties/{party['id']}"
        await firm.admin.call("POST", f"{one}/reject", json={"reason": f"{NAME} sent a blurred page."})
        await firm.post("/wallets", {"label": f"Custody of {NAME.upper()}"})
        view = {"page": "parties", "name": f"Like {NAME}", "query": f"q={quote_plus(NAME)}"}
        await firm.post("/saved-views", view)
        async with db.worker() as session:
            session.add(mail(firm.id, EMAIL, "Documents", f"Dear {NAME}", Cause(MailKind.NOTICE)))
        return cls(firm, party)

    @property
    def id(self) -> str:
        return str(self.party["id"])

    async def verification(self) -> Any:
        return await self.firm.get("/audit/verify")


@pytest.mark.long
async def test_erased_party_leaves_no_trace_and_a_valid_audit_log(world: World, database_url: str, api: Any) -> None:
    written = await Written.made(world)
    firm = written.firm
    before = await firm.get("/audit", params={"limit": 100})
    state = everything(database_url, *TABLES)
    shown = await command(database_url, "erase", "party", written.id, "--reason", REASON)
    assert shown.code == 0, shown.err
    assert "this would be erased" in shown.out
    assert "Nothing was changed" in shown.out
    assert everything(database_url, *TABLES) == state, "a dry run changes nothing"
    done = await command(database_url, "erase", "party", written.id, "--reason", REASON, "--yes")
    assert done.code == 0, done.err
    assert NAME not in shown.out + done.out
    assert traces(database_url, NAME, EMAIL, "Grønlund") == {}
    party = await firm.admin.call("GET", f"/identity/parties/{written.id}")
    assert (party["name"], party["email"], party["wallet_address"], party["status"]) == (
        "Erased party", None, None, "rejected",
    )  # fmt: skip
    assert (await firm.admin.call("GET", f"/identity/parties/{written.id}/documents"))["documents"] == []
    log = await firm.get("/audit", params={"limit": 100})
    old = {entry["seq"]: entry for entry in before["audit"]}
    erasure = log["audit"][0]
    assert (erasure["action"], erasure["credential"]) == ("party.erased", "operator")
    assert erasure["after"]["reason"] == REASON
    erased = [entry["seq"] for entry in log["audit"] if entry["erased_by"] is not None]
    assert sorted(entry["seq"] for entry in erasure["after"]["entries"]) == sorted(erased)
    assert all(entry["hash"] == old[entry["seq"]]["hash"] for entry in log["audit"][1:])
    verified = await written.verification()
    assert (verified["whole"], verified["length"], verified["erased"], verified["erasures"]) == (
        True, erasure["seq"], len(erased), [erasure["seq"]],
    )  # fmt: skip
    said = await command(database_url, "audit", "verify", "--organization", firm.id)
    assert (said.code, f"{len(erased)} of them erased by entry {erasure['seq']}." in said.out) == (0, True), said.out
    found = await firm.get("/search", params={"q": NAME})
    assert NAME not in str(found)
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        csv = await http.get(f"/v1{firm.base}/audit.csv", headers={"cookie": firm.admin.cookie})
    assert (csv.status_code, NAME in csv.text, "Erased party" in csv.text) == (200, False, True)
    state = everything(database_url, *TABLES)
    again = await command(database_url, "erase", "party", written.id, "--reason", REASON, "--yes")
    assert (again.code, again.out) == (0, f"Party {written.id}: there is nothing to erase.\n")
    assert everything(database_url, *TABLES) == state, "a second run changes nothing"


SET = "update audit_log set "
MINE = " where organization_id = %s and "
NEWEST = "(select max(l.seq) from audit_log l where l.organization_id = audit_log.organization_id)"
REDACTED = {
    "without an erasure": (f"{SET} after = null {MINE} action = 'api_key.created'", None, "match its hash"),
    "with an erasure that does not exist": (
        f"{SET} after = null, erased_by = 900 {MINE} seq = 1",
        1,
        "not an erasure",
    ),
    "with an entry that is no erasure": (f"{SET} after = null, erased_by = 2 {MINE} seq = 1", 1, "not an erasure"),
    "with an erasure that does not list it": (
        f"{SET} after = null, erased_by = {NEWEST} {MINE} action = 'api_key.created'",
        None,
        "erased data",
    ),
    "with other content than the erasure left": (f"{SET} after = '{{}}' {MINE} seq = 1", 1, "erased data"),
    "in the erasure itself": (
        f"{SET} erased_by = seq + 1 {MINE} action = 'party.erased'",
        None,
        "cannot be erased",
    ),
}


@pytest.mark.parametrize("how", REDACTED)
@pytest.mark.long
async def test_change_that_hides_behind_an_erasure_is_detected(world: World, database_url: str, how: str) -> None:
    written = await Written.made(world)
    await written.firm.post("/api-keys", {"name": "CI", "scopes": ["orgs:read"]})
    done = await command(database_url, "erase", "party", written.id, "--reason", REASON, "--yes")
    assert done.code == 0, done.err
    assert (await written.verification())["whole"]
    statement, seq, reason = REDACTED[how]
    tamper(database_url, statement, written.firm.id)
    found = await written.verification()
    assert not found["whole"]
    assert reason in found["broken"]["reason"]
    assert seq in (None, found["broken"]["seq"])
    assert found["length"] == found["broken"]["seq"] - 1


@pytest.mark.parametrize("role", ["signum_app", "signum_worker", "none"])
async def test_audit_entry_cannot_be_erased_without_an_erasure(world: World, database_url: str, role: str) -> None:
    firm = await Firm.found(world)
    await firm.party()
    await firm.party()
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        connection.execute(f"set role {role}".encode())
        connection.execute(f"select set_config('app.organization_ids', '{firm.id}', false)".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("update audit_log set after = null, erased_by = 2 where seq = 1")


@pytest.mark.long
async def test_party_that_is_still_needed_is_not_erased(world: World, database_url: str) -> None:
    firm = await Firm.issuing(world)
    wallet = "0x" + uuid4().hex + "ab" * 4
    party = await firm.verified(wallet)
    attestation = await firm.attest(party)
    refused = await command(database_url, "erase", "party", party["id"], "--reason", REASON, "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert "has a valid attestation on" in refused.err
    assert f"Revoke it first: signum revoke {attestation['id']}." in refused.err
    named = await command(database_url, "erase", "party", party["id"], "--reason", f"{party['name']} asked", "--yes")
    assert (named.code, "Omit it." in named.err) == (1, True)
    unknown = uuid4()
    missing = await command(database_url, "erase", "party", unknown, "--reason", REASON)
    assert (missing.code, missing.err) == (1, f"signum: No party has the ID {unknown}.\n")
    assert (await firm.admin.call("GET", f"/identity/parties/{party['id']}"))["name"] == party["name"]
