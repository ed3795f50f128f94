"""Values above the document's bounds are refused, and long texts of a response are shortened to them."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from backend.core.content_rules import LONGEST_TEXT
from backend.core.fields import Id, Moment, Record
from tests.conftest import World
from tests.openapi.operations import DOCUMENT
from tests.openapi.test_document import parts
from tests.support.firm import Firm, refused

ID = "019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"


class Noted(Record):
    note: str


def is_bounded(part: dict[str, Any]) -> bool:
    """Return whether a schema names the bounds of its type."""
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    if "string" in kinds:
        return bool(part.keys() & {"maxLength", "enum", "const"})
    if "integer" in kinds:
        low, high = part.keys() & {"minimum", "exclusiveMinimum"}, part.keys() & {"maximum", "exclusiveMaximum"}
        return bool(low and high and "format" in part)
    return "array" not in kinds or "maxItems" in part


def test_every_schema_of_the_document_is_bounded() -> None:
    typed = [part for part in parts(DOCUMENT) if isinstance(part.get("type"), str | list) and "properties" not in part]
    schemas = [
        part for part in typed if part["type"] in ("string", "integer", "array") or isinstance(part["type"], list)
    ]
    assert len(schemas) > 1_000
    assert [part for part in schemas if not is_bounded(part)] == []


def test_long_text_of_a_record_is_shortened() -> None:
    assert Noted(note="a" * LONGEST_TEXT).note == "a" * LONGEST_TEXT
    assert Noted(note="a" * (LONGEST_TEXT + 1)).note == "a" * (LONGEST_TEXT - 1) + "…"


@pytest.mark.parametrize("text", [f"urn:uuid:{ID}", f"{{{ID}}}"])
async def test_longer_form_of_an_id_is_refused(world: World, text: str) -> None:
    firm = await Firm.found(world)
    with pytest.raises(ValidationError, match="must be a UUID of at most 36 characters"):
        TypeAdapter(Id).validate_python(text)
    problem = await firm.refused("POST", "/attestations", 422, json={"party_id": text, "chain_eid": 40161})
    assert problem.by_field() == {"party_id": "must be a UUID of at most 36 characters"}
    await refused(firm.admin, "GET", "/identity/parties", 400, params={"organization_id": text})
    await firm.refused("GET", f"/assets/{text}", 404)
    await refused(firm.admin, "GET", f"/orgs/{text}", 403)


def test_time_with_more_than_nine_decimals_is_refused() -> None:
    assert TypeAdapter(Moment).validate_python("2026-01-31T12:00:00.123456789+00:00")
    with pytest.raises(ValidationError, match="at most 35 characters"):
        TypeAdapter(Moment).validate_python("2026-01-31T12:00:00.1234567890+00:00")
