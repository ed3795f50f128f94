"""Codes of apps and recovery codes, without anything around them."""

from base64 import b32encode
from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from backend.factors import rules

AT = datetime(2026, 11, 22, 12, 0, 10, tzinfo=UTC)
STEP = int(AT.timestamp()) // 30


def test_code_of_rfc_6238_is_right() -> None:
    secret = b32encode(b"12345678901234567890").decode()
    assert rules.matching_step(secret, "287082", datetime.fromtimestamp(59, UTC), None) == 1


@pytest.mark.parametrize(("steps", "is_right"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_code_of_a_clock_that_is_one_step_off_is_right(steps: int, is_right: bool) -> None:
    secret = rules.new_secret()
    code = pyotp.TOTP(secret).at(AT, counter_offset=steps)
    assert rules.matching_step(secret, code, AT, None) == (STEP + steps if is_right else None)


def test_code_is_taken_once_and_no_earlier_one_after_it() -> None:
    secret = rules.new_secret()
    now_code, before = pyotp.TOTP(secret).at(AT), pyotp.TOTP(secret).at(AT, counter_offset=-1)
    assert rules.matching_step(secret, now_code, AT, STEP) is None
    assert rules.matching_step(secret, before, AT, STEP) is None
    assert rules.matching_step(secret, now_code, AT, STEP - 1) == STEP


@pytest.mark.parametrize("text", ["", "12345", "1234567", "abcdef", "１２３４５６", "12 34 5a"])
def test_anything_but_six_digits_is_no_code(text: str) -> None:
    assert rules.matching_step(rules.new_secret(), text, AT, None) is None


def test_recovery_codes_differ_and_are_read_however_they_are_typed() -> None:
    codes = rules.new_recovery_codes()
    assert len(set(codes)) == rules.RECOVERY_CODES
    for code in codes:
        plain = rules.recovery_text(code)
        assert plain == rules.recovery_text(code.upper().replace("-", " ")) == code.replace("-", "")
    assert rules.recovery_text(codes[0][:-1]) is None


def test_factor_is_fresh_for_five_minutes() -> None:
    assert rules.is_fresh(AT, AT + timedelta(minutes=4, seconds=59))
    assert not rules.is_fresh(AT, AT + timedelta(minutes=5))
    assert not rules.is_fresh(None, AT)
