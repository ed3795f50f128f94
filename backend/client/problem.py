"""What the API says when it refuses: an RFC 9457 problem, as an exception."""

from typing import Any

import httpx


class ApiProblem(Exception):
    """A problem the API answered with, its fields as attributes under the names they have in the body.

    `errors` has `{pointer, detail}` per finding of a 422; `prerequisites` and `dependencyChain` what a 409 waits for;
    `rules` what a refused transfer broke; `rule` the one about second factors or IP addresses that refused
    (`resolution` in `body` says what satisfies it); `retry_after` the seconds a 429 or 503 asks to wait;
    `is_replayed` that the refusal is an earlier one, told again to the same idempotency key.
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
        self.body = body
        self.retry_after = retry_after
        self.is_replayed = is_replayed
        super().__init__(f"{self.status} {self.title}: {self.detail}")

    @classmethod
    def of(cls, response: httpx.Response) -> "ApiProblem":
        """The problem of an answer, which something between us and the API may have written."""
        wait = response.headers.get("retry-after", "")
        is_replayed = "idempotency-replayed" in response.headers
        return cls(_body(response), retry_after=float(wait) if wait.isdigit() else None, is_replayed=is_replayed)

    @property
    def is_still_running(self) -> bool:
        """Whether the first request with this idempotency key has not finished."""
        return self.status == 409 and self.type.endswith("/errors/idempotency-conflict")

    def by_field(self) -> dict[str, str]:
        """The findings by field name: the first part of each pointer."""
        return {e["pointer"].split("/")[1] if "/" in e["pointer"] else "": e["detail"] for e in self.errors}


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "title" in body:
        return body
    if isinstance(body, dict) and "error" in body:
        # OAuth's operations answer in the words of RFC 6749.
        return {"status": response.status_code, "title": body["error"], "detail": body.get("error_description", "")}
    return {"status": response.status_code, "title": response.reason_phrase, "detail": response.text[:300]}
