"""Logs: one line an event on standard error; tracebacks without local variables, which may hold secrets."""

import logging
import sys

import structlog


def configure() -> None:
    """Once a process, before anything is logged."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # granian says on every start that its embedded server is young; the choice was made knowingly.
    logging.getLogger("_granian").addFilter(lambda record: "experimental" not in record.getMessage())
