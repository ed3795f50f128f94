"""`signum config check`, and the same faults at a start: one clear line each, without a traceback or a secret."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.configuration.check import check
from tests.server.test_serve import signum

CASES = [
    ({"REDIS_URL": "localhost:6379"}, "REDIS_URL: This is not a URL of Redis."),
    ({"REDIS_URL": "redis://host:99999"}, "REDIS_URL: This is not a URL of Redis."),
    ({"SIGNUM_RPC_URLS": '{"40161": '}, "SIGNUM_RPC_URLS: This is not JSON: Expecting value at character 11"),
    ({"SIGNUM_RPC_URLS": "[1]"}, "SIGNUM_RPC_URLS: This must be a JSON object"),
    ({"SIGNUM_RPC_URLS": '{"40161": "ftp://x"}'}, "SIGNUM_RPC_URLS: the chain 40161 needs a URL"),
    ({"SIGNUM_RPC_URLS": '{"7": "https://x"}'}, "SIGNUM_RPC_URLS names 7, which is not an endpoint ID"),
    ({"DATABASE_URL": "mysql://user:5ecret@host/x"}, "DATABASE_URL: This is not a URL of PostgreSQL."),
    ({"DATABASE_URL": "postgresql://user:5ecret@host:abc/x"}, "DATABASE_URL: This URL is malformed."),
    ({"DATABASE_URL": "postgresql://user:5ecret@host:99999/x"}, "DATABASE_URL: The port of this URL"),
    ({"DATABASE_URL_FILE": "/nowhere"}, "DATABASE_URL: The file /nowhere of DATABASE_URL_FILE cannot be read"),
    ({"PORT": "abc"}, "PORT: Input should be a valid integer"),
    ({"SIGNUM_TRUSTED_PROXIES": "10.0.0.0/8"}, "SIGNUM_TRUSTED_PROXIES: This is not JSON"),
    ({"SIGNUM_TRUSTED_PROXIES": '["10.0.0.0/33"]'}, "SIGNUM_TRUSTED_PROXIES.0: Input is not a valid IPv4 network"),
    ({"SIGNUM_PUBLIC_URL": "signum.example"}, "SIGNUM_PUBLIC_URL: This is not an origin."),
    ({"SIGNUM_CHAIN_TERMS": '{"40161": {"x": 1}}'}, "SIGNUM_CHAIN_TERMS.40161.x: Extra inputs"),
    ({"SMTP_URL": "smtp://u:5ecret@host"}, "SMTP_URL requires SIGNUM_MAIL_FROM"),
]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SIGNUM_"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(("given", "line"), CASES)
def test_invalid_variable_is_named_in_one_line(
    given: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    report = check()
    said = report.as_text()
    assert report.exit_code == 1
    assert next(problem for entry in report.entries for problem in entry.problems).startswith(line)
    assert "5ecret" not in said + report.as_json()


@pytest.mark.parametrize("case", [0, 2, 5, 9], ids=str)
def test_start_with_invalid_variable_ends_with_the_same_line(case: int, tmp_path: Path) -> None:
    given, line = CASES[case]
    done = signum(SIGNUM_HOME=str(tmp_path), **given)
    assert done.returncode == 1
    assert done.stderr.startswith(f"signum: {line}")
    assert done.stderr.count("\n") == 1


def test_several_faults_have_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"REDIS_URL": "x", "PORT": "0", "SIGNUM_RPC_URLS": "{"}.items():
        monkeypatch.setenv(name, value)
    wrong = {entry.name for entry in check().entries if entry.problems}
    assert wrong == {"REDIS_URL", "PORT", "SIGNUM_RPC_URLS"}


def test_unknown_variable_has_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"SIGNUM_TRUSTED_PROXY": "[]", "SIGNUM_REDIS_URL": "redis://h", "SIGNUM_QQQQQ": "1"}
    foreign = {"SIGNUM_PORT": "tcp://10.0.0.1:8000", "SIGNUM_PORT_8000_TCP": "tcp://10.0.0.1:8000"}
    foreign |= {"SIGNUM_SERVICE_HOST": "10.0.0.1", "SIGNUM_TEST_STEPS": "1", "SIGNUM_API_KEY": "k"}
    report = check(given | foreign)
    found = {unknown.name: unknown.nearest for unknown in report.unknown}
    assert found == {
        "SIGNUM_TRUSTED_PROXY": "SIGNUM_TRUSTED_PROXIES",
        "SIGNUM_REDIS_URL": "REDIS_URL",
        "SIGNUM_QQQQQ": None,
    }
    assert report.exit_code == 1


def test_secret_is_read_from_a_file_and_masked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "url"
    path.write_text("postgresql://owner:5ecret@db/signum\n")
    monkeypatch.setenv("DATABASE_URL_FILE", str(path))
    monkeypatch.setenv("SIGNUM_RPC_URLS", '{"40161": "https://rpc.example/v3/5ecret"}')
    monkeypatch.setenv("SIGNUM_KEYSTORE_PASSWORD", "5ecret")
    report = check()
    shown = {entry.name: (entry.source, entry.value) for entry in report.entries}
    assert report.exit_code == 0, report.as_text()
    assert shown["DATABASE_URL"] == ("file", f"postgresql://owner:***@db/signum ({path})")
    assert shown["SIGNUM_RPC_URLS"] == ("environment", '{"40161": ["rpc.example"]}')
    assert shown["SIGNUM_KEYSTORE_PASSWORD"] == ("environment", "***")
    assert shown["SIGNUM_HOME"][0] == "default"
    assert "5ecret" not in report.as_text() + report.as_json()


def test_url_of_two_servers_shows_where_it_leads_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "host=db-1,db-2&port=5432,5433&target_session_attrs=read-write"
    monkeypatch.setenv("DATABASE_URL", f"postgresql://owner:5ecret@/signum?{where}&password=5ecret")
    text = check().as_text()
    assert f"postgresql://owner:***@/signum?{where}" in text
    assert "5ecret" not in text


def test_secret_in_two_places_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIGNUM_DOCUMENTS_KEY", "0123456789abcdef")
    monkeypatch.setenv("SIGNUM_DOCUMENTS_KEY_FILE", str(tmp_path / "key"))
    assert "SIGNUM_DOCUMENTS_KEY_FILE are both set" in check().as_text()


def test_command_exits_with_the_outcome() -> None:
    command = [sys.executable, "-m", "backend.cli", "config", "check", "--json"]
    done = subprocess.run(command, env=os.environ | {"SIGNUM_PORTS": "1"}, capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["unknown"]) == (
        1,
        False,
        [{"name": "SIGNUM_PORTS", "nearest": "PORT"}],
    )
    assert {entry["name"] for entry in report["variables"]} > {"DATABASE_URL", "SIGNUM_HOME", "SIGNUM_ANVIL"}
