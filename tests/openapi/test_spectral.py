"""Spectral's rules for OpenAPI documents, and those of its OWASP rule set, find no error in the document."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.openapi import COMMITTED

HERE = Path(__file__).parent / "spectral"
COMMAND = "node_modules/@stoplight/spectral-cli/dist/index.js"
UNBOUNDED = {"type": "object", "properties": {"name": {"type": "string"}}}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Use the JavaScript runtime of the virtual environment only."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, env=environment)


def with_an_unbounded_text(folder: Path) -> Path:
    """Write a small document with a known error, which shows that the rules are active."""
    path = folder / "unbounded.json"
    info = {"title": "Unbounded", "version": "1"}
    path.write_text(json.dumps({"openapi": "3.1.0", "info": info, "components": {"schemas": {"Named": UNBOUNDED}}}))
    return path


@pytest.mark.nightly
def test_spectral_finds_no_error_in_the_document(tmp_path: Path) -> None:
    install = run("bun", "install", "--frozen-lockfile", "--ignore-scripts")
    assert install.returncode == 0, install.stderr
    other, report = with_an_unbounded_text(tmp_path), tmp_path / "report.json"
    documents = (str(COMMITTED), str(other))
    lint = run("bun", COMMAND, "lint", *documents, "--ruleset", "ruleset.yaml", "--format", "json", "-o", str(report))
    assert report.exists(), lint.stderr
    found: list[dict[str, Any]] = json.loads(report.read_text())
    errors = [(f["source"], f["code"], "/".join(map(str, f["path"])), f["message"]) for f in found if not f["severity"]]
    assert [error[1:] for error in errors if error[0] == str(COMMITTED)] == []
    assert "owasp:api4:2023-string-limit" in {error[1] for error in errors if error[0] == str(other)}


def test_lock_file_names_no_registry() -> None:
    assert "http" not in (HERE / "bun.lock").read_text()
