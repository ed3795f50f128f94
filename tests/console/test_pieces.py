"""What pages reckon for a chart and read from a mail."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.webhooks.alarm import LETTER
from state.book import _scale
from state.outbox import parts_of


@given(st.lists(st.integers(1, 10**30), min_size=1, max_size=8))
def test_a_scale_leaves_room_at_both_ends(prices):
    scale = _scale(prices)
    assert 0 <= scale[0] < min(prices)
    assert scale[-1] > max(prices)
    assert 2 <= len(scale) <= 8
    assert len({after - before for before, after in pairwise(scale)}) == 1


def test_no_price_has_no_scale():
    assert _scale([]) == []


def test_a_mails_link_is_found_and_leads_into_this_console():
    path = "/o/0197a/webhooks/0197b-c"
    body = LETTER.format(host="hooks.example", why="It is gone.", link=f"https://signum.example{path}")
    before, written, found, after = parts_of(body)
    assert (written, found, after) == (f"https://signum.example{path}", path, "")
    assert before.endswith("send what was missed:")


@pytest.mark.parametrize("body", ["", "hello", "https://evil.example/x", "javascript:alert(1)/o/a"])
def test_a_mail_without_our_link_is_text(body):
    assert parts_of(body) == (body, "", "", "")
