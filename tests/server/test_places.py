"""Unusual places: names of folders, folders that cannot be written, a shared temporary folder, a short PATH."""

import os
import pwd
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from backend.core.errors import CannotStart
from backend.server import pgserver_patches
from backend.server.postgres import EmbeddedPostgres
from tests.server.test_serve import CHECKOUT, Serve, home, signum

assert home, "the fixture, which stops every server"


@pytest.mark.long
def test_data_folder_with_spaces_quotes_and_percent_signs_serves(home: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "shared"
    temporary.mkdir()
    serve = Serve(home.with_name("it's my data 50%25 + more"), TMPDIR=str(temporary))
    serve.ready()
    verify = [sys.executable, "-m", "backend.cli", "audit", "verify"]
    subprocess.run(verify, cwd=CHECKOUT, env=serve.environment, check=True, timeout=60)
    assert not list(temporary.rglob("*lock*"))


def test_data_folder_with_a_comma_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="has a comma"):
        EmbeddedPostgres(tmp_path / "a,b" / "pg").start()


def test_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = signum(SIGNUM_HOME=str(tmp_path / "file" / "data"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"signum: The data folder {tmp_path}/file/data cannot be used (Not a directory")
    assert len(done.stderr.splitlines()) == 1


def test_user_of_the_database_is_found_without_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    mine = pwd.getpwuid(os.geteuid())
    assert pgserver_patches.ensure_user(mine.pw_name) == mine


def test_missing_user_of_the_database_is_named_with_the_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pgserver_patches, "SYSTEM_PROGRAMS", str(tmp_path))
    with pytest.raises(CannotStart, match="Create the user signum-absent, run Signum as another user, or set DATABASE"):
        pgserver_patches.ensure_user("signum-absent")


def test_program_that_adds_users_is_found_outside_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "useradd"
    program.write_text('#!/bin/sh\necho "useradd: cannot lock /etc/passwd" >&2\nexit 1\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(pgserver_patches, "SYSTEM_PROGRAMS", f"/nonexistent:{tmp_path}")
    with pytest.raises(CannotStart, match="cannot lock /etc/passwd"):
        pgserver_patches.ensure_user("signum-absent")


def test_programs_that_are_open_already_are_not_written(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "postgres"
    program.parent.mkdir(mode=0o700)
    program.touch(0o600)
    pgserver_patches.open_to_others(program.parent, 0o055)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (program.parent, program)] == [0o755, 0o655]
    changed = program.stat().st_ctime_ns
    pgserver_patches.open_to_others(program.parent, 0o055)
    assert program.stat().st_ctime_ns == changed
