"""Values that pages calculate for charts, and read from emails."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.mail.schemas import Mail
from backend.webhooks.disabled_email import FIX, LETTER
from state.mail.outbox import mail_view, parts_of
from state.orders.book import _scale


@given(st.lists(st.integers(1, 10**30), min_size=1, max_size=8))
def test_chart_scale_leaves_room_at_both_ends(prices):
    scale = _scale(prices)
    assert 0 <= scale[0] < min(prices)
    assert scale[-1] > max(prices)
    assert 2 <= len(scale) <= 8
    assert len({after - before for before, after in pairwise(scale)}) == 1


def test_chart_without_prices_has_no_scale():
    assert _scale([]) == []


def test_link_in_a_mail_is_found_and_points_to_this_console():
    path = "/o/0197a/webhooks/0197b-c"
    body = LETTER.format(host="hooks.example", why="It is gone.", fix=FIX, link=f"https://signum.example{path}")
    before, written, found, secret, after = parts_of(body)
    assert (written, found, secret, after) == (f"https://signum.example{path}", path, "", "")
    assert before.endswith("replay the missed deliveries:")


@pytest.mark.parametrize("body", ["", "hello", "https://evil.example/x", "javascript:alert(1)/o/a"])
def test_mail_without_a_signum_link_is_plain_text(body):
    assert parts_of(body) == (body, "", "", "", "")


def test_one_time_link_is_apart_from_the_text():
    link = "https://signum.example/invitation?token=abc_D-1"
    assert parts_of(f"Accept here: {link}\n\nIt works once.") == ("Accept here:", "", "", link, "It works once.")


@pytest.mark.parametrize(
    ("is_private", "body", "is_hidden", "is_over"),
    [
        (True, None, True, False),
        (True, "", False, True),
        (True, "Accept here: https://a.example/invitation?token=b", False, False),
        (False, "Hello", False, False),
    ],
)
def test_private_mail_without_text_is_hidden_or_over(is_private, body, is_hidden, is_over):
    now = "2026-11-20T06:00:00.000000Z"
    mail = Mail.model_validate(
        {
            "id": "0197a000-0000-7000-8000-000000000001", "organization_id": "0197a000-0000-7000-8000-000000000002",
            "recipient": "ada@example.com", "subject": "Invitation", "body": body, "is_private": is_private,
            "status": "kept", "attempts": 0, "next_attempt_at": None, "sent_at": None, "failure": None,
            "created_at": now, "updated_at": now,
        }
    )  # fmt: skip
    shown = mail_view(mail)
    assert (shown.is_hidden, shown.is_over, shown.failure, shown.created_at) == (is_hidden, is_over, "", now)
