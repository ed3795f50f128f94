"""The committed artifacts match the compiled sources, and all users share one table of restrictions."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CONTRACTS = Path(__file__).parents[2] / "backend" / "contracts"
NAMES = {path.stem for path in (CONTRACTS / "artifacts").glob("*.json")}
CODE_LIMIT = 24_576
PUSH1, PUSH32 = 0x60, 0x7F
CALLCODE, DELEGATECALL, SELFDESTRUCT = 0xF2, 0xF4, 0xFF


def artifact(name: str) -> dict[str, Any]:
    return json.loads((CONTRACTS / "artifacts" / f"{name}.json").read_text())


def source_hash() -> str:
    def walk(folder: Path, prefix: str) -> list[tuple[str, Path]]:
        found = []
        for entry in sorted(folder.iterdir(), key=lambda path: path.name):
            name = f"{prefix}/{entry.name}"
            if entry.is_dir():
                found += walk(entry, name)
            elif entry.suffix == ".sol":
                found.append((name, entry))
        return found

    digest = hashlib.sha256()
    for name, path in walk(CONTRACTS / "src", "src"):
        digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


QUICK = {"FOUNDRY_FUZZ_RUNS": "32", "FOUNDRY_INVARIANT_RUNS": "6"}
"""An eighth and a quarter of the runs of `make contracts`."""


def run(*command: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Use the JavaScript runtime of the virtual environment only."""
    environment = os.environ | given | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return subprocess.run(command, cwd=CONTRACTS, capture_output=True, text=True, check=False, env=environment)


def test_artifacts_record_their_sources():
    expected = source_hash()
    listed = (CONTRACTS / "compile.mjs").read_text().split("const contracts = [")[1].split("]")[0]
    assert set(re.findall(r'"(\w+)"', listed)) == NAMES
    for name in NAMES:
        assert artifact(name)["sourceHash"] == expected, f"{name}: compile the contracts again"
        assert artifact(name)["contractName"] == name


@pytest.mark.nightly
def test_artifacts_equal_a_recompilation():
    install = run("bun", "install", "--frozen-lockfile", "--ignore-scripts")
    assert install.returncode == 0, install.stderr
    check = run("bun", "compile.mjs", "--check")
    assert check.returncode == 0, check.stderr


@pytest.mark.nightly
def test_solidity_tests_pass():
    report = run("./test.sh", **QUICK)
    assert report.returncode == 0, report.stdout[-4000:]
    assert int(re.findall(r"(\d+) tests passed", report.stdout)[-1]) >= 130


def test_contract_code_fits_every_chain():
    for name in NAMES:
        size = (len(artifact(name)["deployedBytecode"]) - 2) // 2
        assert 0 < size <= CODE_LIMIT, f"{name} has {size} bytes"


def opcodes(code: bytes) -> set[int]:
    """Return the instructions of a contract, without the bytes that they push."""
    found, at = set(), 0
    while at < len(code):
        found.add(code[at])
        at += 1 + (code[at] - PUSH1 + 1 if PUSH1 <= code[at] <= PUSH32 else 0)
    return found


def test_contracts_cannot_be_replaced_or_destroyed():
    """No contract runs another contract's code as its own or destroys itself, so a deployed contract never changes."""
    for name in NAMES:
        code = bytes.fromhex(artifact(name)["deployedBytecode"].removeprefix("0x"))
        assert opcodes(code).isdisjoint({CALLCODE, DELEGATECALL, SELFDESTRUCT}), name
        functions = {entry.get("name", "").lower() for entry in artifact(name)["abi"]}
        assert not {one for one in functions if "upgrade" in one or one == "initialize"}, name


def test_restriction_codes_equal_the_constants():
    table = json.loads((CONTRACTS / "restrictions.json").read_text())
    source = (CONTRACTS / "src" / "Restrictions.sol").read_text()
    constants = dict(re.findall(r"uint8 internal constant (\w+) = (\d+);", source))
    messages = dict(re.findall(r'if \(code == (\w+)\) return "([^"]*)";', source))
    assert {row["name"]: str(row["code"]) for row in table} == constants
    assert {row["name"]: row["message"] for row in table} == messages
    assert [row["code"] for row in table] == sorted({row["code"] for row in table})
    for row in table:
        assert set(row) == {"code", "name", "rule", "message", "resolution"}
        assert all(row[field] for field in ("name", "rule", "message", "resolution"))


def test_lock_file_names_no_registry():
    assert "http" not in (CONTRACTS / "bun.lock").read_text()
