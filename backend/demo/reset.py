"""Reset of the demo: by the API of a running server, otherwise by the mark that the next start finds."""

import fcntl
import json
from pathlib import Path

import httpx

from backend.client import ApiProblem, SignumClient
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.devnet import reset


async def start_over(settings: Settings) -> str:
    """Reset the demo; return what happens next. Raises CannotStart."""
    final = settings.home / "demo.json"
    if not final.exists():
        raise CannotStart(f"There is no demo in {settings.home}.")
    if not reset.is_local(settings):
        raise CannotStart("Only a demo with an embedded database and embedded chains can be reset.")
    if not _is_running(settings.home):
        reset.mark(settings.home)
        return "The next `make run` deletes all data and creates the demo again."
    demo = json.loads(final.read_text())
    admin = demo["users"][0]
    try:
        async with SignumClient(str(demo["base_url"]).removesuffix("/v1")) as client:
            await client.sign_in(admin["email"], admin["password"])
            return (await client.reset_devnet()).message
    except ApiProblem as problem:
        raise CannotStart(f"The demo's admin cannot reset it: {problem.detail}") from problem
    except httpx.TransportError as error:
        raise CannotStart(f"The server of {settings.home} does not respond at {demo['base_url']}.") from error


def _is_running(home: Path) -> bool:
    """Return whether a server holds the lock of the data folder."""
    with (home / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
