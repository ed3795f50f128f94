"""Settings of metrics, logs, traces and error reports."""

from typing import Literal

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings

from backend.core.setting_fields.urls import HttpUrl


class ObservabilitySettings(BaseSettings):
    """What an installation tells its operator about itself (docs/observability.md)."""

    metrics_port: int | None = Field(None, ge=1, le=65535)
    """Port on which the server or a worker answers `GET /metrics`; None for no port. `SIGNUM_METRICS_PORT`."""

    metrics_host: str = "127.0.0.1"
    """Address of that port. `SIGNUM_METRICS_HOST`."""

    metrics_token: str | None = Field(None, min_length=16)
    """Bearer token of `GET /metrics` on the public port; with None, metrics are not there. `SIGNUM_METRICS_TOKEN`."""

    log_format: Literal["text", "json"] | None = None
    """Form of log lines; by default JSON with an external database, text otherwise. `SIGNUM_LOG_FORMAT`."""

    traces_url: HttpUrl | None = None
    """OTLP/HTTP endpoint of traces, such as `http://localhost:4318/v1/traces`; None for no traces.
    `SIGNUM_TRACES_URL`."""

    traces_sample_rate: float = Field(1.0, ge=0, le=1)
    """Share of requests without a trace context of their own that are traced. `SIGNUM_TRACES_SAMPLE_RATE`."""

    sentry_dsn: HttpUrl | None = Field(None, validation_alias=AliasChoices("SENTRY_DSN", "sentry_dsn"))
    """DSN of Sentry, to which unexpected errors are reported; None for no reports."""
