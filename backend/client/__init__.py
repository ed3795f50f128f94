"""The API client of the console, of tests and of Python programs (docs/client.md).

    client = SignumClient("http://localhost:8000", api_key="sgn_…")
    async for asset in client.list_assets(org_id): ...

The console uses `client`, which reaches the same application in the same process, without a socket.
"""

from backend.client.calls import body
from backend.client.client import Blocking, SignumClient
from backend.client.connection import Id
from backend.client.content import Content, Download
from backend.client.events import Changes, Events
from backend.client.pages import Pages
from backend.client.problem import ApiProblem, NotAnId
from backend.client.retries import Repeating
from backend.client.session import SessionClient

__all__ = [
    "ApiProblem",
    "Blocking",
    "Changes",
    "Content",
    "Download",
    "Events",
    "Id",
    "NotAnId",
    "Pages",
    "Repeating",
    "SessionClient",
    "SignumClient",
    "body",
    "client",
]

# Declared at import.
client = SignumClient()
"""The console's client: `use(httpx.ASGITransport(app=api))` is called where the console is assembled."""
