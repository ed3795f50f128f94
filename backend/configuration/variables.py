"""Known variables of the environment, and unknown ones that look like them."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import structlog

from backend.core.setting_fields.sources import FILE, SECRETS, variable_of
from backend.core.settings import Settings

log = structlog.get_logger()
PREFIX = "SIGNUM_"
COMMANDS = ("SIGNUM_URL", "SIGNUM_API_KEY", "SIGNUM_ORG", "SIGNUM_PASSWORD")
"""Variables of the commands of users, which are no settings of the installation (docs/cli.md)."""
OTHERS = ("SIGNUM_ANVIL",)
"""Variables of the installation that are read where they are used."""
FOREIGN = re.compile(r"SIGNUM_(TEST_\w+|(\w+_)?SERVICE_(HOST|PORT\w*)|(\w+_)?PORT_\d+_(TCP|UDP)\w*)")
"""Variables of the tests, and those that Kubernetes sets for a service whose name begins with `signum`."""
LINK = re.compile(r"(tcp|udp)://\S+")
"""Value of the remaining variable that Kubernetes sets for a service."""


@dataclass(frozen=True)
class Unknown:
    """A variable that Signum does not read, and the known variable with the nearest name."""

    name: str
    nearest: str | None

    def line(self) -> str:
        """Return the line that names both."""
        ask = f" Did you mean {self.nearest}?" if self.nearest else ""
        return f"{self.name} is not a variable of Signum and has no effect.{ask}"


def names() -> dict[str, str | None]:
    """Return every variable of the installation, with the field of the settings that it sets."""
    fields: dict[str, str | None] = {variable_of(name, info): name for name, info in Settings.model_fields.items()}
    return fields | dict.fromkeys(OTHERS)


def unknown(environment: Mapping[str, str]) -> Iterator[Unknown]:
    """Yield the variables that begin with `SIGNUM_` and are not known."""
    known = {*names(), *COMMANDS, *(name + FILE for name in SECRETS)}
    for name, value in sorted(environment.items()):
        is_own = name.upper().startswith(PREFIX) and name.upper() not in known
        if is_own and not FOREIGN.fullmatch(name) and not LINK.fullmatch(value):
            yield Unknown(name, _nearest(name.upper(), known))


def _nearest(name: str, known: set[str]) -> str | None:
    """Return the known name with the most similar spelling, regardless of the prefix."""
    bare = {one.removeprefix(PREFIX): one for one in sorted(known)}
    found = get_close_matches(name.removeprefix(PREFIX), bare, n=1, cutoff=0.75)
    return bare[found[0]] if found else None


def warn() -> None:
    """Log a line for each unknown variable. It does not end the start: an earlier version may run with the settings of
    a later one."""
    for name in unknown(os.environ):
        log.warning("setting.unknown", name=name.name, nearest=name.nearest)
