"""The reconciliations table."""

from typing import Any

from backend.core.columns import Row, json_field


class ReconciliationRow(Row, table=True):
    """A run; `created_at` is its start. It belongs to the operator, so no organization sees it."""

    __tablename__ = "reconciliations"

    compared: dict[str, int] = json_field(dict)
    differences: list[dict[str, Any]] = json_field(list)
    repaired: list[dict[str, Any]] = json_field(list)
    unreachable: dict[str, str] = json_field(dict)
