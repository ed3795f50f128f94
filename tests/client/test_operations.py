"""The client's methods match the document: all of them, up to date."""

import filecmp
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from backend.client import SignumClient
from backend.client.connection import path
from backend.openapi import methods
from backend.openapi.methods.operation import Described

DOCUMENT: dict[str, Any] = json.loads((methods.BACKEND / "openapi.json").read_text())
OPERATIONS = [o for chapter in methods.chapters(DOCUMENT).values() for o in chapter]


def test_client_has_a_method_for_every_operation() -> None:
    answer = [e["operationId"] for item in DOCUMENT["paths"].values() for e in item.values() if "operationId" in e]
    assert len(answer) > 80
    missing = [name for name in answer if not callable(getattr(SignumClient, name, None))]
    assert missing == []
    assert len(set(answer)) == len(answer)


def test_operation_ids_do_not_hide_client_attributes() -> None:
    own = {n for k in (SignumClient, *SignumClient.__mro__[2:]) if "operations" not in k.__module__ for n in vars(k)}
    assert own & {o.id for o in OPERATIONS} == set()


def test_committed_client_methods_match_the_openapi_document(tmp_path: Path) -> None:
    methods.write(tmp_path)
    made, committed = ({p.name for p in folder.glob("*.py")} for folder in (tmp_path, methods.FOLDER))
    assert made == committed, "run `make client`"
    _, differ, odd = filecmp.cmpfiles(tmp_path, methods.FOLDER, made, shallow=False)
    assert differ + odd == [], "run `make client`"


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.verb == "DELETE"], ids=lambda o: o.id)
def test_delete_has_no_idempotency_key(operation: Described) -> None:
    assert not operation.is_keyed


def test_operations_that_return_tokens_have_no_idempotency_key() -> None:
    assert [o.id for o in OPERATIONS if o.verb in ("POST", "PATCH") and not o.is_keyed] == [
        "login",
        "refresh",
        "verify_siwe",
        "token",
    ]


def answers() -> list[tuple[str, type[BaseModel]]]:
    """Return the records of responses, by name."""
    import importlib

    known = methods.records()
    names = sorted(
        {n for o in OPERATIONS for k in (*o.answers.values(), o.plan or "") for n in k.split(" | ")} & set(known)
    )
    return [(name, getattr(importlib.import_module(known[name]), name)) for name in names]


@pytest.mark.parametrize(("name", "record"), answers(), ids=lambda value: value if isinstance(value, str) else "")
def test_responses_of_every_operation_are_parsed(name: str, record: type[BaseModel]) -> None:
    """A record that writes a field under one name and reads it under another cannot be a response of the client."""
    [example] = DOCUMENT["components"]["schemas"][name].get("examples") or [{}]
    read = record.model_validate_json(json.dumps(example))
    written = json.loads(read.model_dump_json(by_alias=True, exclude_unset=True))
    assert written.keys() == example.keys()


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_path_part_that_names_another_operation_is_rejected(part: str) -> None:
    with pytest.raises(ValueError, match="is not an ID"):
        path("/orgs/{}/assets/{}", "acme", part)
