"""How many rows a page has."""

import pytest

from backend.errors import BadRequest
from backend.keyset import limit_of


def test_a_limit_is_any_whole_number_from_1_and_100_at_most() -> None:
    assert [limit_of(text) for text in (None, "1", "00000000000000000007", "99999999999999999999")] == [50, 1, 7, 100]
    for text in ("0", "00000000000000000000", "-1", "1.0", "", "many", "٧"):
        with pytest.raises(BadRequest):
            limit_of(text)
