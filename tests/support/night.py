"""The hour of the nightly work in tests: 12 hours away, so that it never changes what a test sees."""

from datetime import UTC, datetime

HOUR = (datetime.now(UTC).hour + 12) % 24
NIGHT = {"SIGNUM_NIGHTLY_HOUR": str(HOUR)}
"""The environment of a server that a test starts."""
