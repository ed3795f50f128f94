"""Content of log lines, and what they must not contain."""

import os
import re
import subprocess
import sys

SCRIPT = """
import structlog
from backend.core import logging as logs

logs.configure()
log = structlog.get_logger()

def signs(key):
    signature = key + key
    raise RuntimeError("no signature")

try:
    signs("5ecret")
except RuntimeError as error:
    log.error("signing.failed", exc_info=error)
"""

FORGED = """
import structlog
from backend.core import logging as logs

logs.configure()
structlog.get_logger().warning("mail.refused", reason="451 no\\n2026-01-01T00:00:00Z [info] forged\\r\\x1b[31m")
"""


def logged(script: str, **environment: str) -> str:
    """Return a program's standard error."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    return done.stderr


def test_log_value_cannot_create_a_line() -> None:
    said = logged(FORGED)
    assert "forged" in said
    assert said.count("\n") == 1
    assert said.isascii()
    assert not any(ord(character) < 32 for character in said.rstrip("\n"))


def test_log_line_has_utc_time_and_no_variables() -> None:
    said = logged(SCRIPT, TZ="Asia/Tokyo")
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z .*signing\.failed", said) is not None, said
    assert "RuntimeError: no signature" in said
    assert "5ecret5ecret" not in said
