"""Logging: one line per event on standard error, as text or JSON; tracebacks without local variables, which may hold
secrets."""

import logging
import sys
from typing import Any, Literal

import structlog

from backend.core.logs import lines

Form = Literal["text", "json"]
FOREIGN = ("dbos", "signum", "reflex")
"""Loggers of the standard library that would add a handler of their own."""
SHARED: tuple[Any, ...] = (
    structlog.contextvars.merge_contextvars,
    lines.add_ids,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    lines.count,
    lines.pass_on,
    structlog.processors.format_exc_info,
)


def configure(form: Form = "text") -> None:
    """Configure logging. Call it before anything is logged; a logger that was used keeps its form."""
    structlog.configure(
        processors=[*SHARED, _renderer(form)],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # granian logs on every start that its embedded server is experimental; this choice is deliberate.
    logging.getLogger("_granian").addFilter(lambda record: "experimental" not in record.getMessage())
    if form == "json":
        _take_over()


def is_json() -> bool:
    """Return whether log lines are JSON."""
    return isinstance(structlog.get_config()["processors"][-1], structlog.processors.JSONRenderer)


def _renderer(form: Form) -> Any:
    if form == "json":
        return structlog.processors.JSONRenderer(default=str)
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)


def _take_over() -> None:
    """Write the lines of libraries as JSON too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *SHARED],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer("json")],
        )
    )
    logging.getLogger().addHandler(handler)
    for name in FOREIGN:
        logger = logging.getLogger(name)
        # A library adds no handler of its own to a logger that has one.
        for earlier in list(logger.handlers):
            logger.removeHandler(earlier)
        logger.addHandler(handler)
        logger.propagate = False


def server_logs() -> dict[str, Any]:
    """Return granian's configuration of logging in the form `json`: its lines go to the handler of all."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {},
        "formatters": {},
        "loggers": {
            "_granian": {"handlers": [], "level": "WARNING", "propagate": True},
            "granian.access": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }
