"""Traces in OpenTelemetry's form, from a request through its workflow to the transaction. Off by default."""
