"""The one door for the console, for tests and for Python programs (docs/client.md).

    client = SignumClient("http://localhost:8000", api_key="sgn_…")
    async for asset in client.list_assets(org_id): ...

The console uses `client`, which reaches the same application in the same process, without a socket.
"""

from backend.client.blocking import Blocking
from backend.client.client import SignumClient
from backend.client.connection import Id
from backend.client.content import Content, Download
from backend.client.pages import Pages
from backend.client.problem import ApiProblem
from backend.client.repeating import Repeating

__all__ = ["ApiProblem", "Blocking", "Content", "Download", "Id", "Pages", "Repeating", "SignumClient", "client"]

client = SignumClient()
"""The console's: `use(httpx.ASGITransport(app=api))` is called where the console is put together."""
