"""Health endpoints of a worker, which has no API: `/v1/health` and `/v1/ready`, with the answers of the API's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import orjson

from backend.core.settings import Settings
from backend.http import plain_port
from backend.http.plain_port import NOT_FOUND, Reply
from backend.status import checks
from backend.status.schemas import Health


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    """Answer on the configured port while inside; do nothing without one."""
    if settings.worker_health_port is None:
        yield
        return
    async with plain_port.listening(settings.worker_health_host, settings.worker_health_port, "health port", _answer):
        try:
            yield
        finally:
            await checks.close()


async def _answer(path: str) -> Reply:
    match path:
        case "/v1/health":
            return Reply(orjson.dumps(Health().model_dump()))
        case "/v1/ready":
            ready = await checks.ready()
            status = HTTPStatus.OK if ready.ready else HTTPStatus.SERVICE_UNAVAILABLE
            return Reply(orjson.dumps(ready.model_dump()), status)
    return NOT_FOUND
