"""A section of the API accepts what its routes accept."""

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from backend.http.sections import Section


@pytest.fixture
def sections() -> httpx.AsyncClient:
    app, things, files = FastAPI(), APIRouter(prefix="/orgs/{orgId}/things"), APIRouter(prefix="/files")

    @things.get("")
    @things.get("/{thingId}.csv")
    async def things_of(orgId: str, thingId: str = "") -> str:
        return f"{orgId} {thingId}"

    @files.get("/{name:path}")
    async def file(name: str) -> str:
        return name

    for router in (things, files):
        section = Section(prefix="/v1")
        section.include_router(router)
        app.include_router(section)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://signum")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/orgs/a.b/things", "a.b "),
        ("/v1/orgs/1/things/2.csv", "1 2"),
        ("/v1/files/a/b.txt", "a/b.txt"),
        ("/v1/files/", ""),
    ],
)
async def test_paths_reach_their_route(sections: httpx.AsyncClient, path: str, answer: str) -> None:
    assert (await sections.get(path)).json() == answer


@pytest.mark.parametrize(
    "path", ["/v1/orgs/1/things/2xcsv", "/v1/orgs/1/2/things", "/orgs/1/things", "/v1/orgs/1/things%0A"]
)
async def test_other_paths_are_not_found(sections: httpx.AsyncClient, path: str) -> None:
    assert (await sections.get(path)).status_code == 404


async def test_other_methods_are_not_allowed(sections: httpx.AsyncClient) -> None:
    assert (await sections.post("/v1/orgs/1/things")).status_code == 405
