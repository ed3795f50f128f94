"""Days of the calendar in requests."""

import re
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator


def _written_out(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        raise ValueError("must be a day, such as 2026-01-31; Unix timestamps are not accepted")
    return value


Day = Annotated[date, BeforeValidator(_written_out)]
"""Accepts a day, such as 2026-11-20."""
