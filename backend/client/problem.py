"""Refusals of the API: an RFC 9457 problem, as an exception."""

from typing import Any

import httpx


class ApiProblem(Exception):
    """A problem that the API returned; its attributes have the names of the body's fields.

    `errors` has `{pointer, detail}` per finding of a 422; `prerequisites` and `dependencyChain` are what a 409
    requires; `rules` are those that a refused transfer violates; `rule` is the one about second factors or IP addresses
    that refused (`resolution` in `body` satisfies it); `etag` is the record's version after a 412; `retry_after` is the
    seconds that a 429 or 503 asks to wait;
    `is_replayed` is whether an earlier refusal was replayed for the same idempotency key.
    """

    def __init__(self, body: dict[str, Any], *, retry_after: float | None = None, is_replayed: bool = False) -> None:
        self.status: int = body.get("status", 500)
        self.type: str = body.get("type", "about:blank")
        self.title: str = body.get("title", "")
        self.detail: str = body.get("detail", "")
        self.instance: str = body.get("instance", "")
        self.errors: list[dict[str, str]] = body.get("errors", [])
        self.prerequisites: list[dict[str, Any]] = body.get("prerequisites", [])
        self.dependencyChain: list[str] = body.get("dependencyChain", [])
        self.rules: list[dict[str, Any]] = body.get("rules", [])
        self.rule: str = body.get("rule", "")
        self.etag: str = body.get("etag", "")
        self.body = body
        self.retry_after = retry_after
        self.is_replayed = is_replayed
        super().__init__(f"{self.status} {self.title}: {self.detail}")

    @classmethod
    def of(cls, response: httpx.Response) -> "ApiProblem":
        """Return the problem of a response, which an intermediary may have written."""
        wait = response.headers.get("retry-after", "")
        is_replayed = "idempotency-replayed" in response.headers
        return cls(_body(response), retry_after=float(wait) if wait.isdigit() else None, is_replayed=is_replayed)

    @property
    def resolutions(self) -> list[dict[str, Any]]:
        """Return the calls that resolve it, in order, for `SignumClient.follow`."""
        entries = [self.body, *self.prerequisites, *self.rules]
        open_ones = [e for e in entries if not e.get("satisfied") and not e.get("passed")]
        found = [e.get("resolution") for e in open_ones]
        return [call for call in found if isinstance(call, dict) and call.get("path")]

    @property
    def is_still_running(self) -> bool:
        """Return whether the first request with this idempotency key has not finished."""
        return self.status == 409 and self.type.endswith("/errors/idempotency-conflict")

    def by_field(self) -> dict[str, str]:
        """Return the findings by field name: the first part of each pointer."""
        return {e["pointer"].split("/")[1] if "/" in e["pointer"] else "": e["detail"] for e in self.errors}


class NotAnId(ApiProblem, ValueError):
    """A text that cannot be part of a path; no resource has it as its id."""

    def __init__(self, text: str) -> None:
        super().__init__({"status": 404, "title": "Not Found", "detail": f"{text!r} is not an ID."})


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "title" in body:
        return body
    if isinstance(body, dict) and "error" in body:
        # OAuth's operations use the form of RFC 6749.
        return {"status": response.status_code, "title": body["error"], "detail": body.get("error_description", "")}
    return {"status": response.status_code, "title": response.reason_phrase, "detail": response.text[:300]}
