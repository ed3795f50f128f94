"""Evidence: an archive of facts that anyone can verify, and limited to the caller's scopes."""

import csv
import hashlib
import io
import json
import subprocess
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from backend.auth.scopes import Scope
from tests.conftest import World
from tests.evidence.conftest import Ground, archive
from tests.support.faulty_node import in_front_of
from tests.support.issuance import HYPEREVM, SEPOLIA, UNIT

FILES = ["README.txt", "asset.json", "chains.json", "rules.json", "rules-history.json"]


@pytest.mark.long
async def test_evidence_contains_the_chain_data(http: httpx.AsyncClient, ground: Ground) -> None:
    found = await archive(http, ground)
    holders = next(n for n in found.namelist() if n.startswith(f"holders-{SEPOLIA}-"))
    assert found.namelist() == [*FILES, holders, "attestations.json", "audit.json", "manifest.json", "SHA256SUMS"]
    assert json.loads(found.read("asset.json"))["symbol"] == ground.asset["symbol"]
    rules = json.loads(found.read("rules.json"))
    assert rules["asked_for"]["max_holders"] == rules["chains"][0]["in_force"]["max_holders"] == 9
    history = json.loads(found.read("rules-history.json"))
    assert history[0]["version"] == rules["chains"][0]["version"]
    assert [c["field"] for c in history[0]["changes"]] == ["max_holders"]
    rows = list(csv.DictReader(io.StringIO(found.read(holders).decode())))
    assert {r["address"]: int(r["balance"]) // UNIT for r in rows}[ground.wallet["address"]] == 7
    assert sum(int(r["balance"]) for r in rows) == 100 * UNIT
    (attestation,) = json.loads(found.read("attestations.json"))
    assert attestation["uid"] == ground.attestation["uid"]
    assert attestation["tx_hash"] == ground.attestation["tx_hash"]
    assert attestation["proof"]["agrees"]
    assert attestation["proof"]["block_number"] > 0
    entries = json.loads(found.read("audit.json"))
    assert {"asset.created", "asset.updated"} <= {entry["action"] for entry in entries}
    assert {entry["subject"]["id"] for entry in entries} == {ground.asset["id"]}
    assert all(len(entry["hash"]) == len(entry["previous_hash"]) == 64 for entry in entries)


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    """Return the output of the command in README.txt."""
    line = next(line for line in (folder / "README.txt").read_text().splitlines() if "sha256sum" in line)
    return subprocess.run(line.partition("(")[0].split(), cwd=folder, capture_output=True, text=True)


async def test_evidence_manifest_and_command_detect_every_change(
    http: httpx.AsyncClient, ground: Ground, tmp_path: Path
) -> None:
    found = await archive(http, ground)
    found.extractall(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert {f["path"] for f in manifest["files"]} == set(found.namelist()) - {"manifest.json", "SHA256SUMS"}
    for file in manifest["files"]:
        data = (tmp_path / file["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (file["sha256"], file["size"])
    assert checked(tmp_path).returncode == 0
    (tmp_path / "rules.json").write_text("{}")
    changed = checked(tmp_path)
    assert changed.returncode != 0
    assert "rules.json: FAILED" in changed.stdout


async def test_evidence_omits_and_names_files_outside_the_scopes(
    http: httpx.AsyncClient, ground: Ground, world: World
) -> None:
    narrow = await world.key(ground.firm.id, Scope.ASSETS_READ)
    found = await archive(http, ground, narrow)
    assert "attestations.json" not in found.namelist()
    left = json.loads(found.read("manifest.json"))["left_out"]
    reasons = {entry["path"]: entry["reason"] for entry in left}
    assert reasons == {
        "attestations.json": "Requires the scope attestations:read.", "audit.json": "Requires the scope orgs:read.",
    }  # fmt: skip
    assert "audit.json" not in found.namelist()
    none = await world.key(ground.firm.id, Scope.ATTESTATIONS_READ)
    assert (await http.get(ground.path, headers=none)).status_code == 403


async def test_evidence_lists_the_holders_at_the_requested_block(http: httpx.AsyncClient, ground: Ground) -> None:
    found = await archive(http, ground, block=0, chain_eid=SEPOLIA)
    assert len(found.read(f"holders-{SEPOLIA}-0.csv").decode().splitlines()) == 1
    for params in ({"block": 10**9}, {"chain_eid": HYPEREVM}, {"block": -1}):
        assert (await http.get(ground.path, headers=ground.firm.key, params=params)).status_code == 400


async def test_evidence_at_a_block_without_state_is_unavailable(http: httpx.AsyncClient, ground: Ground) -> None:
    async with in_front_of(SEPOLIA) as node:
        node.refuses("eth_call", -32602, "BlockOutOfRangeError: block height is 186 but requested was 7")
        answer = await http.get(ground.path, headers=ground.firm.key, params={"chain_eid": SEPOLIA})
    assert answer.status_code == 503
    assert "does not keep the state of that block" in answer.json()["detail"]


async def test_evidence_of_another_organizations_asset_is_refused(
    http: httpx.AsyncClient, ground: Ground, world: World
) -> None:
    missing = f"{ground.firm.base}/assets/{uuid4()}/evidence"
    assert (await http.get(missing, headers=ground.firm.key)).status_code == 404
    other = await world.key(await world.organization("Other"))
    assert (await http.get(ground.path, headers=other)).status_code == 403
    assert (await http.get(ground.path)).status_code == 401
