"""Writes `backend/client/operations/` from `backend/openapi.json`: `make client`.

A module per chapter of the reference, a method per operation, named by its `operationId`. The records are those of the
verticals (`backend/*/schemas.py`), found by their names, so the methods say the API's types and add none. A new
operation costs nothing but running this; a test fails until it was.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable
from enum import Enum
from inspect import getmembers, isclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from backend.openapi.methods.describing import Described, described
from backend.openapi.methods.writing import method

BACKEND = Path(__file__).resolve().parents[2]
FOLDER = BACKEND / "client" / "operations"
METHODS = ("get", "post", "put", "patch", "delete")
NOTICE = "Made by `make client` from backend/openapi.json."


def records() -> dict[str, str]:
    """Every record and enumeration of the API: its name to its module. Raises ValueError for a name twice."""
    found: dict[str, str] = {}
    for path in sorted(BACKEND.glob("*/schemas.py")):
        module = importlib.import_module(f"backend.{path.parent.name}.schemas")
        for name, kind in getmembers(module, isclass):
            if kind.__module__ == module.__name__ and issubclass(kind, BaseModel | Enum):
                if name in found:
                    raise ValueError(f"{name} is in {found[name]} and in {module.__name__}.")
                found[name] = module.__name__
    return found


def chapters(document: dict[str, Any]) -> dict[str, list[Described]]:
    """The operations by the chapter of the reference they stand in, in the document's order."""
    found: dict[str, list[Described]] = {}
    for path, item in document["paths"].items():
        for verb in METHODS:
            if verb in item:
                operation = described(document, path, verb, item[verb])
                found.setdefault(operation.chapter, []).append(operation)
    return found


def sources(document: dict[str, Any]) -> dict[str, str]:
    """The modules: name to source, not formatted yet."""
    known = records()
    made = {_name(chapter): _module(chapter, found, known) for chapter, found in chapters(document).items()}
    made["__init__"] = _all(list(chapters(document)))
    return made


def write(folder: Path) -> None:
    """Write the modules of the committed document into a folder, formatted; modules of chapters that are gone go."""
    document = json.loads((BACKEND / "openapi.json").read_text())
    made = sources(document)
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.py"):
        if old.stem not in made:
            old.unlink()
    for name, source in made.items():
        (folder / f"{name}.py").write_text(source)
    for arguments in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        subprocess.run(
            [sys.executable, "-m", "ruff", arguments[0], "--isolated", "--line-length", "120", *arguments[1:], folder],
            check=True,
        )


def _module(chapter: str, operations: list[Described], known: dict[str, str]) -> str:
    wanted = sorted({name for o in operations for name in o.records})
    lines = [
        f'"""{chapter}. {NOTICE}"""',
        "from typing import Any, Literal, overload",
        "from backend.client.connection import Connection, Id, path",
        "from backend.client.content import Content, Download, form",
        "from backend.client.pages import Pages",
        "from backend.client.repeating import new_key",
        *(f"from {_module_of(name, known)} import {name}" for name in wanted),
        f"class {_class(chapter)}(Connection):",
        f'    """{chapter}."""',
        *(method(operation) for operation in operations),
    ]
    return "\n\n".join(lines) + "\n"


def _module_of(name: str, known: dict[str, str]) -> str:
    if name not in known:
        raise ValueError(f"{name} is in no backend/*/schemas.py, where the API's records are.")
    return known[name]


def _all(names: Iterable[str]) -> str:
    imports = [f"from backend.client.operations.{_name(n)} import {_class(n)}" for n in names]
    bases = ", ".join(_class(n) for n in names)
    head = f'"""Every operation of the API, by chapter. {NOTICE}"""'
    return "\n".join([head, *imports, f"class Operations({bases}):", '    """Every operation of the API."""', ""])


def _name(chapter: str) -> str:
    return chapter.lower().replace("-", "_").replace(" ", "_")


def _class(chapter: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in chapter.replace("-", " ").split()) + "Operations"
