"""Sources of settings: variables of the environment, and for secrets a file that `NAME_FILE` names."""

import json
import os
from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource

from backend.core.errors import CannotStart

SECRETS = frozenset(
    {
        "DATABASE_URL",
        "SIGNUM_DATABASE_URL_WEB",
        "SIGNUM_DATABASE_URL_WORKER",
        "SIGNUM_DATABASE_URL_REPLICA",
        "REDIS_URL",
        "SMTP_URL",
        "SIGNUM_RPC_URLS",
        "SIGNUM_SECRET_KEY",
        "SIGNUM_SECRET_KEY_PREVIOUS",
        "SIGNUM_KEYSTORE_PASSWORD",
        "SIGNUM_DOCUMENTS_KEY",
        "SIGNUM_METRICS_TOKEN",
        "SENTRY_DSN",
    }
)
"""Variables whose values contain secrets. Each can be in a file instead."""
FILE = "_FILE"
JSON_TYPES = MappingProxyType({"dict_type": "object", "model_type": "object", "list_type": "array"})


class Environment(EnvSettingsSource):
    """The environment. Malformed JSON stays a text, so that validation reports it together with other faults."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """Return a JSON value, or the text where it is malformed."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except (ValueError, RecursionError):
            return value

    def _load_env_vars(self) -> Mapping[str, str | None]:
        found = dict(super()._load_env_vars())
        values, faults = contents(os.environ)
        if faults:
            raise CannotStart("\n".join(f"{name}: {fault}" for name, fault in faults.items()))
        return found | {name.lower(): value for name, value in values.items()}


def variable_of(field_name: str, field: FieldInfo) -> str:
    """Return the name of a field's variable, such as `SIGNUM_HOME`."""
    alias: Any = field.validation_alias
    return str(alias.choices[0]) if alias is not None else f"SIGNUM_{field_name.upper()}"


def contents(environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values of variables that files hold, and what is wrong with others, by variable."""
    values, faults = dict[str, str](), dict[str, str]()
    for name in sorted(SECRETS):
        path = environment.get(name + FILE)
        if path and environment.get(name):
            faults[name] = f"{name} and {name}{FILE} are both set. Unset one of them"
        elif path:
            try:
                values[name] = Path(path).read_text().rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "It is not UTF-8"
                faults[name] = f"The file {path} of {name}{FILE} cannot be read: {reason}"
    return values, faults


def fault_lines(errors: Iterable[Mapping[str, Any]], fields: Mapping[str, FieldInfo]) -> list[str]:
    """Return a line for each fault of a validation: the variable, the place in it, and what is wrong. No line contains
    a value, which may be a secret."""
    names = {field: variable_of(field, info) for field, info in fields.items()}
    texts: dict[str, list[str]] = {}
    for error in errors:
        texts.setdefault(_place(error, names), []).append(_text(error))
    return [f"{place}: {'; '.join(said)}" if place else "\n".join(said) for place, said in texts.items()]


def _place(error: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return the variable and the keys in its JSON; empty for a fault of several variables."""
    if not error["loc"]:
        return ""
    first, *rest = map(str, error["loc"])
    name = next((name for field, name in names.items() if first in (field, name)), first)
    return ".".join([name, *takewhile(lambda part: "[" not in part, rest)])


def _text(error: Mapping[str, Any]) -> str:
    if wanted := JSON_TYPES.get(error["type"]):
        given = error["input"]
        return (isinstance(given, str) and json_fault(given)) or f"This must be a JSON {wanted}"
    return str(error["msg"]).removeprefix("Value error, ")


def json_fault(text: str) -> str | None:
    """Return why a text is not JSON, without the text; None if it is."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"This is not JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError):
        return "This is not JSON"
    return None
