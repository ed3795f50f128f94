"""The check behind `signum config check`, and its report."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import ValidationError

from backend.chains import chain_settings
from backend.configuration import database_secrets
from backend.configuration.variables import Unknown, names, unknown
from backend.core.errors import CannotStart
from backend.core.secret_keys.root_key import PREVIOUS, VARIABLE, root_key
from backend.core.setting_fields.sources import FILE, SECRETS, contents, fault_lines
from backend.core.settings import Settings

Source = Literal["environment", "file", "default"]
FIRST_NAME = re.compile(r"[A-Z_]+")
HIDDEN = "***"
UNSET = "not set"
PARAMETERS = frozenset({"host", "port", "target_session_attrs", "connect_timeout", "sslmode"})
"""Parameters of a URL that are shown."""


@dataclass(frozen=True)
class Entry:
    """A variable of the installation. Its value contains no secret."""

    name: str
    source: Source
    value: str
    problems: Sequence[str]


@dataclass(frozen=True)
class Report:
    """All variables, and those that are not known."""

    entries: Sequence[Entry]
    unknown: Sequence[Unknown]

    @property
    def exit_code(self) -> int:
        """Return 0 if nothing is wrong, else 1."""
        return int(bool(self.unknown) or any(entry.problems for entry in self.entries))

    def as_json(self) -> str:
        """Return the report for programs."""
        entries, others = [asdict(entry) for entry in self.entries], [asdict(name) for name in self.unknown]
        return json.dumps({"ok": not self.exit_code, "variables": entries, "unknown": others}, indent=2)

    def as_text(self) -> str:
        """Return a table, followed by a line for each problem."""
        width = max(len(entry.name) for entry in self.entries)
        rows = [f"{entry.name:<{width}}  {entry.source:<11}  {entry.value}" for entry in self.entries]
        found = [problem for entry in self.entries for problem in entry.problems]
        found += [name.line() for name in self.unknown]
        return "\n".join([*rows, "", *(found or ["The configuration is valid."])])


def check(environment: Mapping[str, str] | None = None, *, with_database: bool = False) -> Report:
    """Check every variable of the environment. It starts nothing, and connects to the database if asked."""
    given = dict(os.environ if environment is None else environment)
    values, faults = contents(given)
    problems: dict[str, list[str]] = {name: [f"{name}: {fault}"] for name, fault in faults.items()}
    for line in _faults(set(faults)):
        found = FIRST_NAME.match(line)
        problems.setdefault(found[0] if found else "", []).append(line)
    if with_database and not problems and (refusal := database_secrets.refusal(Settings())):
        problems[VARIABLE] = [refusal]
    entries = [_entry(name, field, given, values, problems.get(name, [])) for name, field in names().items()]
    return Report(entries, list(unknown(given)))


def _faults(unreadable: set[str]) -> Iterator[str]:
    """Yield what is wrong with the settings; without the variables whose files cannot be read."""
    if unreadable:
        return
    try:
        own = Settings()
        chain_settings.check(own)
    except ValidationError as error:
        yield from (line for text in fault_lines(error.errors(), Settings.model_fields) for line in text.splitlines())
    except CannotStart as error:
        yield from str(error).splitlines()


def _entry(
    name: str, field: str | None, given: Mapping[str, str], files: Mapping[str, str], problems: Sequence[str]
) -> Entry:
    if given.get(name):
        return Entry(name, "environment", _shown(name, given[name]), problems)
    if name in files:
        return Entry(name, "file", f"{_shown(name, files[name])} ({given[name + FILE]})", problems)
    return Entry(name, "default", _default(field), problems)


def _default(field: str | None) -> str:
    value: Any = Settings.model_fields[field].get_default(call_default_factory=True) if field else None
    if isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, bool):
        return str(int(value))
    return UNSET if value is None else str(value)


def _shown(name: str, value: str) -> str:
    """Return a value for people: without secrets."""
    if name not in SECRETS:
        return value
    if name in (VARIABLE, PREVIOUS):
        return f"{HIDDEN} (fingerprint {root_key(value).fingerprint})"
    if name == "SIGNUM_RPC_URLS":
        return _hosts(value)
    return _without_password(value) if "://" in value else HIDDEN


def _without_password(url: str) -> str:
    """Return scheme, user, host and path of a URL, and the parameters that say where it leads."""
    try:
        split = urlsplit(url)
        user = f"{split.username}:{HIDDEN}@" if split.username or split.password else ""
        at = f":{split.port}" if split.port else ""
        named = [(name, value) for name, value in parse_qsl(split.query) if name in PARAMETERS]
        query = f"?{urlencode(named, safe=',')}" if named else ""
        return f"{split.scheme}://{user}{split.hostname or ''}{at}{split.path}{query}"
    except ValueError:
        return HIDDEN


def _hosts(value: str) -> str:
    """Return the hosts of the nodes of each chain, without paths, which may be providers' keys."""
    try:
        urls = json.loads(value)
        lists = {eid: [of] if isinstance(of, str) else of for eid, of in urls.items()}
        return json.dumps({eid: [urlsplit(url).hostname for url in of] for eid, of in lists.items()})
    except (ValueError, AttributeError, TypeError, RecursionError):
        return HIDDEN
