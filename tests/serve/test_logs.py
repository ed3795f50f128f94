"""What a line of the log says, and what it does not."""

import os
import re
import subprocess
import sys

SCRIPT = """
import structlog
from backend import logs

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


def test_line_has_its_time_in_utc_and_a_traceback_has_no_variables() -> None:
    environment = os.environ | {"TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == ""
    said = re.search(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z) .*signing\.failed", done.stderr)
    assert said is not None, done.stderr
    assert "RuntimeError: no signature" in done.stderr
    assert "5ecret5ecret" not in done.stderr
