"""`signum export`: everything of one organization, nothing of another one, and no secret."""

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlmodel import SQLModel

from backend.organization_exports import contents
from tests.conftest import World
from tests.parties.test_documents import PASSPORT, upload
from tests.support.firm import Firm
from tests.support.operator import command

SECRET = re.compile(r"secret|seal|password|token_hash|key_hash|(^|_)key$|raw$|code")
PLAIN = {
    "market_announcements.key": "Name of an event.",
    "transactions.key": "Name of a step.",
}
"""Columns that look like a secret, and what they have."""


class Opened:
    """An export as its reader opens it."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.files = {name: archive.read(name) for name in archive.namelist()}
        self.manifest = json.loads(self.files["manifest.json"])

    def rows(self, table: str) -> list[Any]:
        return [json.loads(line) for line in self.files[f"{table}.jsonl"].splitlines()]

    @property
    def everything(self) -> bytes:
        return b"".join(self.files.values())


@pytest.mark.long
async def test_export_has_what_the_api_shows_and_no_secret(world: World, database_url: str, tmp_path: Path) -> None:
    firm, other = await Firm.found(world, name="Northwind"), await Firm.found(world, name="Contoso")
    below = await Firm.found(world, name="Northwind Below", parent=firm.id)
    party, theirs = await firm.party("0x" + "ab" * 20), await other.party(name="Of Contoso")
    await below.party(name="Of Below")
    document = await upload(firm.admin, party, params={"kind": "passport", "name": "passport.pdf"})
    await upload(other.admin, theirs, content=PASSPORT.replace(b"Marta", b"Boris"))
    wallet = await firm.post("/wallets", {"label": "Treasury"})
    key = await firm.post("/api-keys", {"name": "CI", "scopes": ["orgs:read"]})
    await firm.post("/invitations", {"email": "invited@example.com", "role": "viewer"})
    path = tmp_path / "northwind.zip"
    done = await command(database_url, "export", firm.id, "--out", path)
    assert done.code == 0, done.err
    assert path.stat().st_mode & 0o077 == 0
    found = Opened(path)
    for file in found.manifest["files"]:
        data = found.files[file["path"]]
        assert (file["sha256"], file["size"]) == (hashlib.sha256(data).hexdigest(), len(data))
        assert file["rows"] is None or file["rows"] == len(data.splitlines())
    assert {file["path"] for file in found.manifest["files"]} == found.files.keys() - {"manifest.json"}
    assert (found.manifest["organization_name"], found.manifest["organizations"]) == ("Northwind", [str(firm.id)])
    assert [row["name"] for row in found.rows("organizations")] == ["Northwind"]
    [row] = found.rows("parties")
    assert {name: row[name] for name in ("id", "name", "email", "country", "wallet_address", "status")} == {
        name: (await firm.admin.call("GET", f"/identity/parties/{party['id']}"))[name]
        for name in ("id", "name", "email", "country", "wallet_address", "status")
    }
    [kept] = found.rows("party_documents")
    assert (kept["id"], kept["name"]) == (document["id"], "passport.pdf")
    assert found.files[f"documents/{kept['file_id']}.pdf"] == PASSPORT
    assert [w["address"] for w in found.rows("wallets")] == [wallet["address"]]
    assert {person["email"] for person in found.rows("people")} == {firm.admin.email}
    log = await firm.get("/audit", params={"limit": 100})
    assert [e["hash"] for e in found.rows("audit_log")] == [e["hash"] for e in reversed(log["audit"][1:])]
    newest = log["audit"][0]
    assert (newest["action"], newest["credential"]) == ("organization.exported", "operator")
    assert newest["after"]["sha256"] == hashlib.sha256(found.files["manifest.json"]).hexdigest()
    for strange in ("Of Contoso", "Boris", "Of Below", str(other.id), key["key"], *_secrets(database_url)):
        assert strange.encode() not in found.everything, strange
    assert "webhook_endpoints.secret" in found.manifest["omitted_columns"]
    again = await command(database_url, "export", firm.id, "--out", path)
    assert (again.code, again.err.strip()) == (
        1, f"signum: {path} exists. Choose another name; an export replaces none.",
    )  # fmt: skip
    both = tmp_path / "both.zip"
    assert (await command(database_url, "export", firm.id, "--below", "--out", both)).code == 0
    assert {row["name"] for row in Opened(both).rows("parties")} == {party["name"], "Of Below"}
    assert Opened(both).manifest["organizations"] == [str(firm.id), str(below.id)]


def _secrets(database_url: str) -> set[str]:
    """Return every stored hash and encrypted secret."""
    text = """
      select key_hash from api_keys union select token_hash from invitations union select token_hash from sessions
      union select secret from webhook_endpoints union select password_hash from users union select body from outbox
      union select opens from outbox"""
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        return {found for (found,) in connection.execute(text).fetchall() if found}


async def test_export_of_an_unknown_organization_ends_with_one_line(
    database_url: str, api: Any, tmp_path: Path
) -> None:
    unknown = uuid4()
    done = await command(database_url, "export", unknown, "--out", tmp_path / "none.zip")
    assert (done.code, done.err) == (1, f"signum: No organization has the ID {unknown}.\n")
    assert os.listdir(tmp_path) == []
    nowhere = await command(database_url, "export", unknown, "--out", tmp_path / "no" / "where.zip")
    assert (nowhere.code, nowhere.err) == (1, f"signum: The folder {tmp_path / 'no'} does not exist.\n")


def test_no_column_that_looks_like_a_secret_is_exported() -> None:
    for name, table in SQLModel.metadata.tables.items():
        if contents.OWNER not in table.c or name in contents.OMITTED_TABLES:
            continue
        for column in table.c:
            place = f"{name}.{column.name}"
            assert place in contents.OMITTED_COLUMNS or place in PLAIN or not SECRET.search(column.name), place
    columns = {f"{table.name}.{c.name}" for table in SQLModel.metadata.tables.values() for c in table.c}
    assert contents.OMITTED_COLUMNS.keys() <= columns
    assert contents.OMITTED_TABLES.keys() <= SQLModel.metadata.tables.keys()
