"""Authenticator codes and recovery codes, as pure functions."""

from base64 import b32encode
from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from backend.auth import freshness
from backend.factors import rules

AT = datetime(2026, 11, 22, 12, 0, 10, tzinfo=UTC)
STEP = int(AT.timestamp()) // 30


def test_code_of_rfc_6238_is_valid() -> None:
    secret = b32encode(b"12345678901234567890").decode()
    assert rules.matching_step(secret, "287082", datetime.fromtimestamp(59, UTC), None) == 1


@pytest.mark.parametrize(("steps", "is_right"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_code_one_time_step_off_is_valid(steps: int, is_right: bool) -> None:
    secret = rules.new_secret()
    code = pyotp.TOTP(secret).at(AT, counter_offset=steps)
    assert rules.matching_step(secret, code, AT, None) == (STEP + steps if is_right else None)


def test_code_is_accepted_once_and_earlier_ones_are_rejected() -> None:
    secret = rules.new_secret()
    now_code, before = pyotp.TOTP(secret).at(AT), pyotp.TOTP(secret).at(AT, counter_offset=-1)
    assert rules.matching_step(secret, now_code, AT, STEP) is None
    assert rules.matching_step(secret, before, AT, STEP) is None
    assert rules.matching_step(secret, now_code, AT, STEP - 1) == STEP


@pytest.mark.parametrize("text", ["", "12345", "1234567", "abcdef", "１２３４５６", "12 34 5a"])
def test_code_without_exactly_six_digits_is_rejected(text: str) -> None:
    assert rules.matching_step(rules.new_secret(), text, AT, None) is None


def test_recovery_codes_are_unique_and_accept_any_formatting() -> None:
    codes = rules.new_recovery_codes()
    assert len(set(codes)) == rules.RECOVERY_CODES
    for code in codes:
        plain = rules.recovery_text(code)
        assert plain == rules.recovery_text(code.upper().replace("-", " ")) == code.replace("-", "")
    assert rules.recovery_text(codes[0][:-1]) is None


def test_factor_is_fresh_for_five_minutes() -> None:
    assert freshness.is_fresh(AT, AT + timedelta(minutes=4, seconds=59))
    assert not freshness.is_fresh(AT, AT + timedelta(minutes=5))
    assert not freshness.is_fresh(None, AT)
