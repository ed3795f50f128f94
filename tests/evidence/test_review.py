"""Verification of a pack: changed files and figures, archives of another kind, other organizations, and the PDF."""

import csv
import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pypdf import PdfReader

from backend.auth.scopes import Scope
from tests.conftest import World
from tests.evidence.conftest import Ground, archive
from tests.support.faulty_node import in_front_of
from tests.support.issuance import SEPOLIA, UNIT

Files = dict[str, bytes]
ZIP = {"content-type": "application/zip"}


async def files_of(http: httpx.AsyncClient, ground: Ground) -> Files:
    found = await archive(http, ground)
    return {name: found.read(name) for name in found.namelist()}


def zipped(files: Files) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return written.getvalue()


def rehashed(files: Files) -> Files:
    """Return a pack with hashes that fit its files again, as someone makes it who changes a figure."""
    manifest = json.loads(files["manifest.json"])
    for file in manifest["files"]:
        file |= {"sha256": hashlib.sha256(files[file["path"]]).hexdigest(), "size": len(files[file["path"]])}
    found = files | {"manifest.json": json.dumps(manifest).encode()}
    sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found.items() if name != "SHA256SUMS")
    return found | {"SHA256SUMS": "".join(sums).encode()}


async def sent(http: httpx.AsyncClient, ground: Ground, what: str, content: bytes, headers: Any = None) -> Any:
    return await http.post(f"{ground.path}/{what}", content=content, headers={**(headers or ground.firm.key), **ZIP})


async def verified(http: httpx.AsyncClient, ground: Ground, files: Files) -> Any:
    answer = await sent(http, ground, "verification", zipped(files))
    assert answer.status_code == 200, answer.text
    return answer.json()


def wrong(verification: Any) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Return what differs: expected and found by kind and subject."""
    text = lambda cell: cell and cell["text"]  # noqa: E731
    found = [check for check in verification["checks"] if check["result"] == "differs"]
    return {(one["kind"], one["subject"]): (text(one["expected"]), text(one["found"])) for one in found}


async def test_pack_is_read_as_words_and_every_check_is_ok(http: httpx.AsyncClient, ground: Ground) -> None:
    files = await files_of(http, ground)
    contents = (await sent(http, ground, "contents", zipped(files))).json()
    titles = [section["title"] for section in contents["sections"]]
    assert titles == [
        "Asset", "Chains", "Rules", "Rules history", "Holders on Sepolia Devnet", "Attestations", "Audit entries",
    ]  # fmt: skip
    assert [section["problem"] for section in contents["sections"]] == [None] * 7
    rows = {row[0]["text"]: [cell["text"] for cell in row[1:]] for row in contents["sections"][2]["rows"]}
    assert rows["Maximum holders"] == ["9", "9"]
    assert {file["path"] for file in contents["files"]} == files.keys() - {"SHA256SUMS"}
    assert all(file["sha256"] == file["stated_sha256"] for file in contents["files"])
    text = json.dumps([section["rows"] for section in contents["sections"]])
    assert str(ground.firm.id) not in text
    verification = await verified(http, ground, files)
    assert verification["result"] == "ok", verification
    kinds = {check["kind"] for check in verification["checks"]}
    assert kinds == {
        "file", "origin", "audit", "token", "block", "supply", "balances", "rules", "transactions", "attestations",
    }  # fmt: skip
    (balances,) = [one for one in verification["checks"] if one["subject"] == "Balances of the holders"]
    assert balances["count"] == 2


async def test_changed_file_differs_from_its_hash(http: httpx.AsyncClient, ground: Ground) -> None:
    files = await files_of(http, ground)
    changed = files | {"rules.json": b"{}"}
    verification = await verified(http, ground, changed)
    assert verification["result"] == "differs"
    assert wrong(verification) == {
        ("file", "rules.json"): (
            hashlib.sha256(files["rules.json"]).hexdigest(), hashlib.sha256(b"{}").hexdigest(),
        )
    }  # fmt: skip
    (rules,) = [check for check in verification["checks"] if check["kind"] == "rules"]
    assert (rules["result"], rules["reason"]) == (
        "unchecked",
        "The pack's file does not have the values that a pack has.",
    )
    contents = (await sent(http, ground, "contents", zipped(changed))).json()
    assert next(one for one in contents["sections"] if one["name"] == "rules")["problem"]
    gone = wrong(await verified(http, ground, {name: data for name, data in files.items() if name != "asset.json"}))
    assert ("file", "asset.json") in gone


def balance(files: Files) -> Files:
    """Return a pack in which the investor has more, and another hash of the file."""
    name = next(name for name in files if name.startswith("holders-"))
    rows = list(csv.DictReader(io.StringIO(files[name].decode())))
    for row in rows:
        if int(row["balance"]) == 7 * UNIT:
            row["balance"] = str(8 * UNIT)
    written = io.StringIO()
    table = csv.DictWriter(written, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return files | {name: written.getvalue().encode()}


def supply(files: Files) -> Files:
    state = json.loads(files["chains.json"])
    state[0]["supply"] = str(99 * UNIT)
    return files | {"chains.json": json.dumps(state).encode()}


def rule(files: Files) -> Files:
    stated = json.loads(files["rules.json"])
    stated["chains"][0]["in_force"]["max_holders"] = 10
    return files | {"rules.json": json.dumps(stated).encode()}


def transaction(files: Files) -> Files:
    history = json.loads(files["rules-history.json"])
    history[0]["block_number"] += 1
    return files | {"rules-history.json": json.dumps(history).encode()}


def attestation(files: Files) -> Files:
    found = json.loads(files["attestations.json"])
    found[0]["proof"]["kyc_level"] = 3
    return files | {"attestations.json": json.dumps(found).encode()}


def entry(files: Files) -> Files:
    found = json.loads(files["audit.json"])
    found[-1]["action"] = "asset.archived"
    return files | {"audit.json": json.dumps(found).encode()}


def address(files: Files) -> Files:
    manifest = json.loads(files["manifest.json"])
    manifest["blocks"][0]["token_address"] = "0x" + "11" * 20
    return files | {"manifest.json": json.dumps(manifest).encode()}


@pytest.mark.parametrize(
    ("change", "kind", "expected", "found"),
    [
        (balance, "balances", str(8 * UNIT), str(7 * UNIT)),
        (supply, "supply", str(99 * UNIT), str(100 * UNIT)),
        (rule, "rules", None, None),
        (transaction, "transactions", None, None),
        (attestation, "attestations", None, None),
        (entry, "audit", None, None),
        (address, "token", "0x" + "11" * 20, None),
    ],
)
async def test_changed_figure_with_new_hashes_differs_from_chain_and_log(
    http: httpx.AsyncClient, ground: Ground, change: Callable[[Files], Files], kind: str, expected: Any, found: Any
) -> None:
    verification = await verified(http, ground, rehashed(change(await files_of(http, ground))))
    differences = wrong(verification)
    assert "file" not in {one for one, _ in differences}
    assert ("origin", "Made by Signum") in differences
    values = [pair for (one, _), pair in differences.items() if one == kind]
    assert values, verification
    assert expected is None or any(pair[0] == expected and found in (None, pair[1]) for pair in values)


async def test_changed_rule_is_named(http: httpx.AsyncClient, ground: Ground) -> None:
    verification = await verified(http, ground, rehashed(rule(await files_of(http, ground))))
    (check,) = [one for one in verification["checks"] if one["kind"] == "rules" and one["result"] == "differs"]
    assert check["reason"] == "Maximum holders: the pack says 10, the chain 9"


def bomb() -> bytes:
    """Return an archive of 40 KB that unpacks to 40 MB."""
    return zipped({"manifest.json": b"{}", "audit.json": bytes(40_000_000)})


def lying() -> bytes:
    """Return an archive whose directory announces fewer bytes than its file has."""
    whole = bytearray(zipped({"manifest.json": bytes(100_000)}))
    at = whole.rindex(b"PK\x01\x02") + 24
    whole[at : at + 4] = struct.pack("<I", 10)
    return bytes(whole)


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 400, "empty"),
        (b"not a zip", 400, "not a zip archive"),
        (zipped({"a.txt": b"a"}), 400, "no manifest.json"),
        (zipped({"manifest.json": b"{}"}), 400, "manifest.json"),
        (zipped({"../../etc/passwd": b"a"}), 400, "without folders"),
        (zipped({"/etc/passwd": b"a"}), 400, "without folders"),
        (zipped({"a/b.json": b"a"}), 400, "without folders"),
        (zipped({f"{n}.json": b"" for n in range(300)}), 413, "300 files"),
        (bomb(), 413, "32 MiB"),
        (lying(), 400, "damaged"),
        (zipped({"manifest.json": b"{}"})[:-30], 400, "not a zip archive"),
        (bytes(17_000_000), 413, "bytes"),
    ],
    ids=["empty", "text", "no-manifest", "bad-manifest", "traversal", "absolute", "folder", "many", "bomb", "lying",
         "cut", "large"],
)  # fmt: skip
async def test_archive_of_another_kind_is_refused(
    http: httpx.AsyncClient, ground: Ground, content: bytes, status: int, words: str
) -> None:
    for what in ("contents", "verification", "report"):
        answer = await sent(http, ground, what, content)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
        assert words in answer.json()["detail"]


async def test_pack_of_another_organization_is_refused(http: httpx.AsyncClient, ground: Ground, world: World) -> None:
    pack = zipped(await files_of(http, ground))
    other = await world.organization("Other")
    assert (await sent(http, ground, "verification", pack, await world.key(other))).status_code == 403
    own = await ground.firm.asset()
    path = f"{ground.firm.base}/assets/{own['id']}/evidence/verification"
    answer = await http.post(path, content=pack, headers={**ground.firm.key, **ZIP})
    assert (answer.status_code, answer.json()["detail"]) == (
        400, "The pack is about another asset. Open it on the page of that asset.",
    )  # fmt: skip
    narrow = await world.key(ground.firm.id, Scope.TRANSFERS_READ)
    assert (await sent(http, ground, "verification", pack, narrow)).status_code == 403


async def test_silent_chain_is_reported_as_not_checked(http: httpx.AsyncClient, ground: Ground) -> None:
    files = await files_of(http, ground)
    async with in_front_of(SEPOLIA) as node:
        for method in ("eth_call", "eth_getBlockByNumber", "eth_getTransactionReceipt"):
            node.refuses(method, -32000, "missing trie node")
        verification = await verified(http, ground, files)
    assert verification["result"] == "unchecked"
    kinds = {one["kind"] for one in verification["checks"] if one["result"] == "unchecked"}
    assert {"block", "supply", "balances", "rules", "transactions"} <= kinds
    assert all(one["reason"] for one in verification["checks"] if one["result"] == "unchecked")


async def test_block_and_supply_are_checked_by_events_if_the_node_lost_the_state(
    http: httpx.AsyncClient, ground: Ground
) -> None:
    """A restarted node of an embedded chain has only its newest state."""
    files = await files_of(http, ground)
    async with in_front_of(SEPOLIA) as node:
        node.refuses("eth_call", -32602, "BlockOutOfRangeError: block height is 186 but requested was 7")
        checks = {one["kind"]: one for one in (await verified(http, ground, files))["checks"] if one["chain_eid"]}
        results = {kind: one["result"] for kind, one in checks.items()}
        assert results == {
            "token": "ok", "block": "ok", "supply": "ok", "balances": "unchecked", "rules": "unchecked",
            "transactions": "ok", "attestations": "unchecked",
        }  # fmt: skip
        assert "does not keep the state of that block" in checks["rules"]["reason"]
        changed = wrong(await verified(http, ground, rehashed(supply(files))))
        assert changed["supply", "Supply"] == (str(99 * UNIT), str(100 * UNIT))


def holders(files: Files, *changed: dict[str, str]) -> Files:
    """Return a pack with other holders: the first one with other values."""
    name = next(name for name in files if name.startswith("holders-"))
    first = next(csv.DictReader(io.StringIO(files[name].decode())))
    written = io.StringIO()
    table = csv.DictWriter(written, list(first))
    table.writeheader()
    table.writerows({**first, **row} for row in changed)
    return files | {name: written.getvalue().encode()}


def section(contents: Any, name: str) -> list[list[str]]:
    """Return the texts of a section."""
    found = next(one for one in contents["sections"] if one["name"].startswith(name))
    return [[cell["text"] for cell in row] for row in found["rows"]]


async def test_contents_have_whole_texts_and_tell_accounts_of_one_name_apart(
    http: httpx.AsyncClient, ground: Ground
) -> None:
    lost, new, other = (f"0x{digits * 20}" for digits in ("aB", "Cd", "eF"))
    files = holders(
        await files_of(http, ground),
        {"address": lost, "name": "Solveig Aas", "balance": "5"},
        {"address": new, "name": "Solveig Aas", "balance": "12"},
        {"address": other, "name": "Tamsin Rowe", "balance": "1"},
    )
    entries = json.loads(files["audit.json"])
    reason = "Court order 14/2026, " + "settlement of an estate " * 80
    after = {"lost_address": lost, "new_address": new, "to_address": other, "reason": reason}
    entries[0] |= {"before": None, "after": after}
    files |= {"audit.json": json.dumps(entries).encode()}
    contents = (await sent(http, ground, "contents", zipped(files))).json()
    assert section(contents, "audit")[0][4] == (
        f"lost address: Solveig Aas ({lost}); new address: Solveig Aas ({new}); to: Tamsin Rowe; reason: {reason}"
    )
    assert [row[1] for row in section(contents, "holders")] == ["12", "5", "1"], "largest first"


async def test_pdf_of_a_pack_without_differences_has_no_empty_columns_and_short_amounts(
    http: httpx.AsyncClient, ground: Ground
) -> None:
    files = await files_of(http, ground)
    text = await pdf(http, ground, files)
    assert "Result" in text
    assert "In the pack" not in text
    text = await pdf(http, ground, holders(files, {"balance": "125382950377052121647"}))
    assert "125.38295 " in text
    assert "In the pack" in text
    assert "125.382950377052121647" in text.replace(" ", ""), "the values that differ are exact"


async def pdf(http: httpx.AsyncClient, ground: Ground, files: Files) -> str:
    answer = await sent(http, ground, "report", zipped(files))
    return " ".join("".join(page.extract_text() for page in PdfReader(io.BytesIO(answer.content)).pages).split())


async def test_pdf_has_checks_and_figures_and_its_hash_is_in_the_log(http: httpx.AsyncClient, ground: Ground) -> None:
    pack = zipped(balance(await files_of(http, ground)))
    answer = await sent(http, ground, "report", pack)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf"), answer.text
    text = " ".join("".join(page.extract_text() for page in PdfReader(io.BytesIO(answer.content)).pages).split())
    for words in (f"Evidence of {ground.asset['symbol']}", "Verification", "differs", "Holders on", "Maximum holders"):
        assert words in text, text
    assert hashlib.sha256(pack).hexdigest() in text
    audit = (await ground.firm.get("/audit?action=asset.evidence_reported"))["audit"]
    assert (audit[0]["after"]["sha256"], audit[0]["after"]["pack_sha256"]) == (
        hashlib.sha256(answer.content).hexdigest(), hashlib.sha256(pack).hexdigest(),
    )  # fmt: skip
    assert audit[0]["after"]["result"] == "differs"
