"""Logs, traces and error reports of a server or a worker, from its start to its end."""

from backend.core.logs import output
from backend.core.settings import Settings
from backend.error_reports import sentry
from backend.tracing import exporter


def start(settings: Settings, role: str) -> None:
    """Start what the settings ask for. Raises CannotStart where a package is missing."""
    output.configure(settings.log_format or ("json" if settings.outside_database else "text"))
    exporter.start(settings, role)
    sentry.start(settings, role)


def stop() -> None:
    """Send queued spans and reports, and stop."""
    exporter.stop()
    sentry.stop()
