"""Find dead code with vulture: `python -m tests.unused` prints what nothing uses, and fails if there is any.

Use by a test does not count, because only the tests would notice if the code were removed. vulture compares names: code
with the name of something that is used is not found.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from vulture import Vulture
from vulture.core import Item

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("backend", "app", "components", "state", "rxconfig.py")
GENERATED = Path("backend/client/operations")
"""Methods for every operation of the API, whether Python calls it or not."""
SKIPPED = ("*/node_modules/*", "*/migrations/versions/*")
REGISTERED = [
    *("@*.get", "@*.post", "@*.put", "@*.patch", "@*.delete", "@*.command"),
    *("@page", "@investor_page", "@rx.page"),
    "@compiles",
    "@workflow",
    "@field_validator",
    "@model_validator",
]
"""Decorators that register what they decorate."""
FIELDS = ("schemas.py", "models.py", "oauth_models.py", "chain_models.py")
"""Modules whose variables are fields, columns and enum members: read as JSON or by SQL, and written as attributes."""
EXCEPTIONS = {
    # settings of libraries, and methods that they call
    *(
        "model_config",
        "_BACKGROUND_JOBS_INTERVAL_SEC",
        "impl",
        "cache_ok",
        "inherit_cache",
        "process_bind_param",
        "process_result_value",
        "dialect",
        "trace",
    ),
    *("naming_convention", "compress_type", "external_attr", "writable", "__signature__", "prec", "deserialize"),
    *("settings_customise_sources", "get_stylesheet_paths", "get_frontend_dependencies"),
    *(
        "ensure_prefix_permissions",
        "ensure_user_exists",
        "ensure_folder_permissions",
        "preprocess",
        "_event_namespace",
        "__call__",
        "do_begin",
    ),
    # the Python client's interface
    *("blocking", "response_headers", "by_field", "follow", "resolutions"),
    # what revisions call
    "execute_apart",
    # what tests need to observe or to arrange, and what only they call on a contract
    *("local_transport", "COMMITTED", "listening", "databases", "stand_for", "remove_attester", "set_message_fee"),
}
"""Names that are used although nothing in Python names them."""


def unused() -> Iterator[str]:
    """Yield a line for each function, class, method, variable, attribute and import that nothing uses."""
    found = Vulture(ignore_names=sorted(EXCEPTIONS), ignore_decorators=REGISTERED)
    found.scavenge([str(ROOT / path) for path in PATHS], exclude=list(SKIPPED))
    fields = {str(item.name) for item in found.defined_vars if item.filename.name in FIELDS}
    for item in found.get_unused_code():
        path = item.filename.relative_to(ROOT)
        if GENERATED not in path.parents and not _is_field(item, path, fields):
            yield f"{path}:{item.first_lineno}: unused {item.typ} {item.name}"


def _is_field(item: Item, path: Path, fields: set[str]) -> bool:
    """Return whether it is a field or an assignment to one, or a property of a React component."""
    if item.typ == "attribute":
        return item.name in fields
    return item.typ == "variable" and (path.name in FIELDS or path.parts[0] == "components")


if __name__ == "__main__":
    lines = list(unused())
    sys.stdout.write("".join(f"{line}\n" for line in lines) or "No unused code.\n")
    sys.exit(bool(lines))
