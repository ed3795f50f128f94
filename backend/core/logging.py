"""Logging: one line per event on standard error; tracebacks without local variables, which may hold secrets."""

import logging
import sys

import structlog


def configure() -> None:
    """Configure logging. Call once per process, before anything is logged."""
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
    # granian logs on every start that its embedded server is experimental; this choice is deliberate.
    logging.getLogger("_granian").addFilter(lambda record: "experimental" not in record.getMessage())
