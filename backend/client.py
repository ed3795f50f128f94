"""The one door for the console, for tests and for Python users.

    client = SignumClient("http://localhost:8000", api_key="sgn_…")
    assets = await client.call("GET", f"/orgs/{org}/assets")

The console uses `client`, which reaches the same application in the same process, without a socket.
"""

from typing import Any, TypeVar

import httpx
from pydantic import BaseModel

from backend.settings import settings

M = TypeVar("M", bound=BaseModel)


class ApiProblem(Exception):
    """A problem the API answered with, its fields as attributes."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.status: int = body.get("status", 500)
        self.type: str = body.get("type", "about:blank")
        self.title: str = body.get("title", "")
        self.detail: str = body.get("detail", "")
        self.instance: str = body.get("instance", "")
        self.errors: list[dict[str, str]] = body.get("errors", [])
        self.prerequisites: list[dict[str, Any]] = body.get("prerequisites", [])
        self.dependency_chain: list[str] = body.get("dependencyChain", [])
        self.rules: list[dict[str, Any]] = body.get("rules", [])
        super().__init__(f"{self.status} {self.title}: {self.detail}")

    def by_field(self) -> dict[str, str]:
        """The findings by field name: the first part of each pointer."""
        return {e["pointer"].split("/")[1] if "/" in e["pointer"] else "": e["detail"] for e in self.errors}


class SignumClient:
    """Calls the API and raises its problems."""

    def __init__(
        self, base_url: str | None = None, *, api_key: str = "", transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._base_url = base_url
        self._headers = {"x-api-key": api_key} if api_key else {}
        self._transport = transport
        self._http: httpx.AsyncClient | None = None

    def use(self, transport: httpx.AsyncBaseTransport) -> None:
        """Reach the API by another transport, such as the application in this process."""
        self._transport, self._http = transport, None

    @property
    def devnet(self) -> bool:
        """Whether the chains are the ones this installation started itself: the console then says so everywhere."""
        return settings().embedded_chains

    async def call(
        self,
        method: str,
        path: str,
        *,
        cookie: str = "",
        token: str = "",
        json: Any = None,
        content: bytes | None = None,
        params: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """One call; `path` is below /v1. The parsed answer, or None for 204. Raises ApiProblem. A file goes as
        `content`, with its `content-type` among the headers."""
        sent = dict(headers or {})
        if cookie:
            sent |= {"cookie": cookie, "origin": settings().origin}
        if token:
            sent["authorization"] = f"Bearer {token}"
        if idempotency_key:
            sent["idempotency-key"] = idempotency_key
        query = {k: v for k, v in (params or {}).items() if v is not None and v != ""}
        response = await self._client().request(
            method, f"/v1{path}", json=json, content=content, params=query or None, headers=sent
        )
        if response.status_code >= 400:
            raise ApiProblem(_problem(response))
        return response.json() if response.content else None

    async def get(self, model: type[M], path: str, **options: Any) -> M:
        """A GET, as a record."""
        return model.model_validate(await self.call("GET", path, **options))

    async def post(self, model: type[M], path: str, json: Any = None, **options: Any) -> M:
        """A POST, as a record."""
        return model.model_validate(await self.call("POST", path, json=json, **options))

    async def patch(self, model: type[M], path: str, json: Any, **options: Any) -> M:
        """A PATCH, as a record."""
        return model.model_validate(await self.call("PATCH", path, json=json, **options))

    async def delete(self, path: str, **options: Any) -> Any:
        """A DELETE."""
        return await self.call("DELETE", path, **options)

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = httpx.AsyncClient(
                base_url=self._base_url or settings().origin,
                transport=self._transport,
                headers=self._headers,
                timeout=30,
                trust_env=False,
            )
        return self._http


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "title" in body:
        return body
    return {"status": response.status_code, "title": response.reason_phrase, "detail": response.text[:300]}


client = SignumClient()
"""The console's: `use(httpx.ASGITransport(app=api))` is called where the console is put together."""
