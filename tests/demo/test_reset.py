"""`make demo-reset`: with a running server, without one, and without a demo."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.demo.reset import start_over
from backend.devnet import reset
from tests.server.test_serve import CHECKOUT, Serve, home

__all__ = ["home"]


async def test_reset_without_a_server_waits_for_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text(
        json.dumps({"users": [{"email": "elin@northwind.example", "password": "kept"}]})
    )
    (tmp_path / "pg").mkdir()
    assert "The next `make run`" in await start_over(Settings(home=tmp_path))
    assert reset.clear_if_asked(tmp_path)
    assert not (tmp_path / "pg").exists()


async def test_reset_without_a_demo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="There is no demo"):
        await start_over(Settings(home=tmp_path))


@pytest.mark.parametrize(
    "changes",
    [{"database_url": "postgresql://signum@db.example/signum"}, {"rpc_urls": {40161: ["https://rpc.example"]}}],
)
async def test_reset_of_data_that_is_not_embedded_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    (tmp_path / "demo.json").write_text("{}")
    with pytest.raises(CannotStart, match="embedded"):
        await start_over(Settings(home=tmp_path, **changes))  # type: ignore[arg-type]
    assert not reset.is_asked(tmp_path)


@pytest.mark.long
def test_reset_of_a_running_server_creates_the_demo_again(home: Path) -> None:
    serve = Serve(home, SIGNUM_DEMO="1", SIGNUM_DEMO_HISTORY="0")
    serve.wait(lambda: serve.get("/v1/ready").status_code == 200, 480)
    before = json.loads((home / "demo.json").read_text())
    run = [sys.executable, "-m", "backend.cli", "demo-reset"]
    subprocess.run(run, cwd=CHECKOUT, env=serve.environment, check=True, timeout=120, capture_output=True)
    serve.wait(lambda: not (home / "reset").exists() and serve.get("/v1/ready").status_code == 200, 480)
    after = json.loads((home / "demo.json").read_text())
    assert after["users"] == before["users"]
    assert after["organization_id"] != before["organization_id"]
