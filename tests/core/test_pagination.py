"""The number of rows of a page."""

import pytest

from backend.core.errors import BadRequest
from backend.core.pagination import limit_of


def test_limit_is_a_whole_number_from_1_to_100() -> None:
    assert [limit_of(text) for text in (None, "1", "00000000000000000007", "99999999999999999999")] == [50, 1, 7, 100]
    for text in ("0", "00000000000000000000", "-1", "1.0", "", "many", "٧"):
        with pytest.raises(BadRequest):
            limit_of(text)
