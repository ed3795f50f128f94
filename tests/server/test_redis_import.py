"""Two threads that load Redis's client at the same time."""

import subprocess
import sys

SCRIPT = """
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait

from backend.limits.moving_windows import Limiter

assert "redis" not in sys.modules
reached, goes_on = threading.Event(), threading.Event()


class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "redis.utils":
            reached.set()
            goes_on.wait(30)


sys.meta_path.insert(0, Slow())
with ThreadPoolExecutor(2) as threads:
    loading = threads.submit(__import__, "redis")
    assert reached.wait(30)
    limiter = threads.submit(Limiter, "redis://127.0.0.1:1")
    wait([limiter], 0.5)
    goes_on.set()
    loading.result()
    limiter.result()
"""


def test_limiter_waits_until_another_thread_has_loaded_the_client() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
