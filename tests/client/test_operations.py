"""The client's methods are those of the document: all of them, and as it is now."""

import filecmp
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from backend.client import SignumClient
from backend.client.connection import path
from backend.openapi import methods
from backend.openapi.methods.describing import Described

DOCUMENT: dict[str, Any] = json.loads((methods.BACKEND / "openapi.json").read_text())
OPERATIONS = [o for chapter in methods.chapters(DOCUMENT).values() for o in chapter]


def test_there_is_a_method_for_every_operation() -> None:
    told = [e["operationId"] for item in DOCUMENT["paths"].values() for e in item.values() if "operationId" in e]
    assert len(told) > 80
    missing = [name for name in told if not callable(getattr(SignumClient, name, None))]
    assert missing == []
    assert len(set(told)) == len(told)


def test_no_operation_hides_what_the_client_itself_has() -> None:
    own = {n for k in (SignumClient, *SignumClient.__mro__[2:]) if "operations" not in k.__module__ for n in vars(k)}
    assert own & {o.id for o in OPERATIONS} == set()


def test_the_committed_methods_are_those_of_the_document(tmp_path: Path) -> None:
    methods.write(tmp_path)
    made, committed = ({p.name for p in folder.glob("*.py")} for folder in (tmp_path, methods.FOLDER))
    assert made == committed, "run `make client`"
    _, differ, odd = filecmp.cmpfiles(tmp_path, methods.FOLDER, made, shallow=False)
    assert differ + odd == [], "run `make client`"


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.verb == "DELETE"], ids=lambda o: o.id)
def test_a_delete_has_no_key_and_so_is_never_repeated(operation: Described) -> None:
    assert not operation.is_keyed


def test_what_answers_with_tokens_only_is_not_asked_for_twice() -> None:
    assert [o.id for o in OPERATIONS if o.verb in ("POST", "PATCH") and not o.is_keyed] == [
        "login",
        "refresh",
        "verify_siwe",
        "token",
    ]


def answers() -> list[tuple[str, type[BaseModel]]]:
    """Records of answers, by their names."""
    import importlib

    known = methods.records()
    names = sorted(
        {n for o in OPERATIONS for k in (*o.answers.values(), o.plan or "") for n in k.split(" | ")} & set(known)
    )
    return [(name, getattr(importlib.import_module(known[name]), name)) for name in names]


@pytest.mark.parametrize(("name", "record"), answers(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_answer_can_be_read_back(name: str, record: type[BaseModel]) -> None:
    """A record that writes a field under one name and reads it under another cannot be an answer of the client."""
    [example] = DOCUMENT["components"]["schemas"][name].get("examples") or [{}]
    read = record.model_validate_json(json.dumps(example))
    written = json.loads(read.model_dump_json(by_alias=True, exclude_unset=True))
    assert written.keys() == example.keys()


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_path_part_that_would_name_another_operation_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match="is not an id"):
        path("/orgs/{}/assets/{}", "acme", part)
