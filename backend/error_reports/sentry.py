"""The client of Sentry, an optional dependency."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from backend.core.errors import CannotStart
from backend.core.logs import lines
from backend.core.settings import Settings
from backend.error_reports.scrubbing import scrubbed

MISSING = "SENTRY_DSN needs Sentry's client: install Signum with the extra `sentry`."
WAIT = 2.0
"""Seconds to send queued reports at the end."""


def start(settings: Settings, role: str) -> None:
    """Report unexpected errors where a DSN is set. Raises CannotStart without the package, or for an invalid DSN."""
    lines.report(None)
    if settings.sentry_dsn is None:
        return
    try:
        import sentry_sdk
        from sentry_sdk.utils import BadDsn
    except ImportError as error:
        raise CannotStart(MISSING) from error
    try:
        sentry_sdk.init(
            dsn=settings.sentry_dsn,
            release=_release(),
            default_integrations=False,
            auto_enabling_integrations=False,
            include_local_variables=False,
            include_source_context=False,
            max_breadcrumbs=0,
            server_name="",
            before_send=_before_send,
        )
    except BadDsn:
        raise CannotStart("SENTRY_DSN: This is not a DSN of Sentry.") from None
    sentry_sdk.set_tag("role", role)
    lines.report(_report)


def stop() -> None:
    """Send queued reports, and stop."""
    if lines.reports():
        import sentry_sdk

        sentry_sdk.flush(WAIT)
        lines.report(None)


def _report(error: BaseException, event: str) -> None:
    """Send an error that was logged, with the name of the line and the ids on it."""
    import sentry_sdk

    with sentry_sdk.new_scope() as scope:
        tags = {"event": event, "request_id": lines.request_id.get(), "trace_id": lines.trace_id.get()}
        for name, value in tags.items():
            if value:
                scope.set_tag(name, value)
        scope.capture_exception(error)


def _before_send(event: Any, _hint: Any) -> Any:
    return scrubbed(event)


def _release() -> str | None:
    try:
        return f"signum@{version('signum')}"
    except PackageNotFoundError:
        return None
