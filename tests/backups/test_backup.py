"""A backup is restored while the chains have continued, and the installation continues as if nothing had happened."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Signum, serving


def signum(home: Path, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the operator on a data folder."""
    given = {k: v for k, v in os.environ.items() if not k.startswith(("SIGNUM_", "DATABASE_URL"))}
    command = [sys.executable, "-m", "backend.cli", *map(str, words)]
    env = given | {"SIGNUM_HOME": str(home)} | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)


def mint(server: Signum, amount: int) -> None:
    """Mint tokens of the demo's first asset to its treasury."""
    asset = server.records()["asset"]
    read = server.call("GET", f"/orgs/{{org}}/assets/{asset}")
    treasury = server.call("GET", "/orgs/{org}/wallets", limit=100)["wallets"]
    to = next(wallet["address"] for wallet in treasury if wallet["is_default"])
    body = {"chain_eid": read["deployments"][0]["chain_eid"], "to_address": to, "amount": str(amount * 10**18)}
    server.wait_for(server.call("POST", f"/orgs/{{org}}/assets/{asset}/mint", body)["requestId"])


def supply(server: Signum) -> int:
    """Return the supply of that asset as the API reads it."""
    read = server.call("GET", f"/orgs/{{org}}/assets/{server.records()['asset']}")
    return sum(int(one["supply"]) for one in read["deployments"])


@pytest.mark.long
@pytest.mark.nightly
def test_backup_is_restored_beside_chains_that_continued(tmp_path: Path) -> None:
    home, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "signum.backup"
    home.mkdir()
    home.chmod(0o711)
    with serving(home, SIGNUM_DEMO_HISTORY="0") as server:
        until_demo(server)
        made = signum(home, "backup", file, "--with-secret-key")
        assert made.returncode == 0, made.stderr
        assert "3 embedded chains" in made.stdout
        assert file.stat().st_mode & 0o077 == 0
        bare = signum(home, "backup", tmp_path / "bare.backup")
        assert "Keep the secret key with the fingerprint" in bare.stdout
        again = signum(home, "backup", file)
        assert (again.returncode, "exists" in again.stderr) == (1, True)
        mint(server, 7)
        after, port = supply(server), int(server.url.rpartition(":")[2])

    refused = signum(new, "restore", tmp_path / "bare.backup")
    assert refused.returncode == 1
    assert "Set SIGNUM_SECRET_KEY to that key." in refused.stderr
    broken = tmp_path / "broken.backup"
    broken.write_bytes(file.read_bytes()[:2_000])
    assert "is not a whole backup" in signum(new, "restore", broken).stderr
    restored = signum(new, "restore", file)
    assert restored.returncode == 0, restored.stderr
    assert "has data" in signum(new, "restore", file).stderr
    for state in (home / "chains").glob("*.json"):  # the chains are those of today
        shutil.copy(state, new / "chains" / state.name)
    shutil.copy(home / "demo.json", new / "demo.json")
    with serving(new, port=port, SIGNUM_DEMO="0") as server:
        compared = signum(new, "reconcile")
        assert compared.returncode == 0, compared.stdout + compared.stderr
        assert supply(server) == after
        mint(server, 5)  # the wallets' keys open
        assert supply(server) == after + 5 * 10**18


def until_demo(server: Signum) -> None:
    """Wait until the demo is there."""
    while not server.call("GET", "/demo")["is_ready"]:
        pass


def test_manifest_of_a_later_version_is_refused(tmp_path: Path) -> None:
    import tarfile

    file, manifest = tmp_path / "later.backup", tmp_path / "manifest.json"
    manifest.write_text(json.dumps({
        "format": 2, "created_at": "2030-01-01T00:00:00Z", "revision": "0001",
        "secret_key_fingerprint": None, "has_secret_key": False, "chains": [],
    }))  # fmt: skip
    with tarfile.open(file, "w") as archive:
        archive.add(manifest, "manifest.json")
    said = signum(tmp_path / "home", "restore", file)
    assert said.returncode == 1
    assert (
        said.stderr.strip()
        == f"signum: {file} was made by a later version of Signum. Restore it with that one or a newer one."
    )
