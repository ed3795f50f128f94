"""The deployment files name only settings, commands, paths and folders that exist."""

import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.cli.main import app
from backend.core.settings import Settings
from tests.conftest import DOCUMENT

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
DOCKERFILE = (DEPLOY / "docker" / "Dockerfile").read_text()
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
OTHER = {"SIGNUM_IMAGE"}
"""Variables of the files themselves."""


def known_variables() -> set[str]:
    """Return every environment variable that is a setting."""
    own = {f"SIGNUM_{name.upper()}" for name in Settings.model_fields}
    fields = Settings.model_fields.values()
    aliases = {alias for f in fields if f.validation_alias for alias in getattr(f.validation_alias, "choices", ())}
    return own | {str(alias) for alias in aliases} | OTHER


FILES = sorted(p for p in DEPLOY.rglob("*") if p.is_file() and p.suffix not in (".lock", ".pyc"))


@pytest.mark.parametrize("path", FILES, ids=[path.relative_to(DEPLOY).as_posix() for path in FILES])
def test_every_named_setting_exists(path: Path) -> None:
    assert set(re.findall(r"\bSIGNUM_[A-Z_]+\b", path.read_text())) <= known_variables()


def commands() -> set[str]:
    """Return the names of the operator's commands."""
    return {str(c.name or getattr(c.callback, "__name__", "")).replace("_", "-") for c in app.registered_commands}


def test_units_start_existing_commands_as_an_unprivileged_user() -> None:
    assert {unit.name for unit in UNITS} == {"signum-migrate.service", "signum-web@.service", "signum-worker@.service"}
    for unit in UNITS:
        parsed = configparser.RawConfigParser(strict=False)
        parsed.optionxform = str  # type: ignore[assignment,method-assign]
        parsed.read(unit)
        service = parsed["Service"]
        assert service["User"] == "signum"
        assert service["NoNewPrivileges"] == service["PrivateTmp"] == "yes"
        assert service["ProtectSystem"] == "strict"
        program, command = service["ExecStart"].split()
        assert program == "/opt/signum/bin/signum"
        assert command in commands()


def test_compose_file_starts_two_of_each_with_a_read_only_root() -> None:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())["services"]
    assert set(services) == {"postgres", "redis", "migrate", "web-1", "web-2", "worker-1", "worker-2", "proxy"}
    for name in ("migrate", "web-1", "web-2", "worker-1", "worker-2"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name].get("command", ["serve"])[0] in commands()


def test_probes_ask_paths_that_exist() -> None:
    paths = set(json.loads(DOCUMENT.read_text())["paths"])
    templates = "".join(path.read_text() for path in (DEPLOY / "helm").rglob("*.yaml"))
    asked = set(re.findall(r"/v1(/[a-z]+)", DOCKERFILE + templates))
    assert asked == {"/health", "/ready"}
    assert asked <= {path.removeprefix("/v1") for path in paths}


def test_image_runs_without_root_and_keeps_the_users_of_image_and_chart_equal() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]
    assert "runAsUser: 10001" in (DEPLOY / "helm" / "signum" / "templates" / "_helpers.tpl").read_text()


def test_image_copies_every_folder_of_the_wheel() -> None:
    copied = set(re.findall(r"^COPY (\w+) \w+$", DOCKERFILE, re.MULTILINE))
    assert copied == {"app", "assets", "backend", "components", "state"}
