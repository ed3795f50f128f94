"""The words of failed validation, where people read them."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AnyUrl, AwareDatetime, EmailStr, Field, ValidationError, create_model

from backend.core.fields import Body, Flag
from backend.core.problems.findings import findings
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm


class Side(StrEnum):
    BUY = "buy"
    SELL = "sell"


class Inner(Body):
    name: str


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (UUID, "x", "must be a UUID, such as 019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"),
        (UUID, 1, "must be a UUID, such as 019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"),
        (datetime, "soon", "must be a time with a time zone, such as 2026-01-31T12:00:00Z"),
        (AwareDatetime, "2026-01-31T12:00:00", "must be a time with a time zone, such as 2026-01-31T12:00:00Z"),
        (date, "soon", "must be a date, such as 2026-01-31"),
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (Annotated[int, Field(ge=1)], 0, "must be at least 1"),
        (Annotated[int, Field(le=9)], 10, "must be at most 9"),
        (Annotated[int, Field(gt=1)], 1, "must be more than 1"),
        (Annotated[int, Field(lt=9)], 9, "must be less than 9"),
        (float, "x", "must be a number"),
        (Decimal, "x", "must be a number"),
        (Flag, "yes", "must be true or false"),
        (bool, "perhaps", "must be true or false"),
        (Side, "hold", "must be buy or sell"),
        (Literal["a", "b", "c"], "d", "must be a, b or c"),
        (str, 1, "must be text"),
        (Annotated[str, Field(min_length=1)], "", "must not be empty"),
        (Annotated[str, Field(min_length=3)], "a", "must have at least 3 characters"),
        (Annotated[str, Field(max_length=1)], "ab", "must have at most 1 character"),
        (Annotated[str, Field(max_length=21)], "a" * 22, "must have at most 21 characters"),
        (Annotated[str, Field(pattern="^[0-9]$")], "x", "must have the form ^[0-9]$"),
        (Annotated[list[int], Field(min_length=1)], [], "must have at least 1 item"),
        (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "must have at most 2 items"),
        (list[int], 1, "must be a list"),
        (dict[str, int], 1, "must be an object"),
        (Inner, 1, "must be an object"),
        (AnyUrl, "x", "must be a web address, such as https://example.com"),
        (EmailStr, "x", "is not a valid email address: An email address must have an @-sign."),
    ],
)  # fmt: skip
def test_invalid_value_is_explained_in_plain_words(kind: Any, value: Any, words: str) -> None:
    form = create_model("Form", field=(kind, ...))
    with pytest.raises(ValidationError) as raised:
        form.model_validate({"field": value})
    assert findings(raised.value.errors()) == [{"pointer": "/field", "detail": words}]


def test_missing_and_unknown_fields_are_named() -> None:
    with pytest.raises(ValidationError) as raised:
        Inner.model_validate({"nick": "x"})
    assert findings(raised.value.errors()) == [
        {"pointer": "/name", "detail": "is required"}, {"pointer": "/nick", "detail": "is not a field of this body"},
    ]  # fmt: skip


async def test_body_and_query_that_do_not_fit_are_refused_in_plain_words(world: World) -> None:
    firm = await Firm.found(world)
    body = {"asset_id": "x", "chain_eid": SEPOLIA, "from_wallet_id": "y", "amount": "1"}
    problem = await firm.refused("POST", "/transfers", 422, json=body)
    uuid = "must be a UUID, such as 019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"
    assert {e["pointer"]: e["detail"] for e in problem.errors} == {
        "/asset_id": uuid, "/from_wallet_id": uuid, "/to_address": "is required",
    }  # fmt: skip
    problem = await firm.refused("GET", "/transfers?assetId=x", 400)
    assert problem.detail == f"assetId: {uuid}"
