"""Start the cluster, check it, and print a line for each check."""

import sys
import time
import traceback
from collections.abc import Sequence

from tests.cluster import console, deaths, previous, sharing
from tests.cluster.chains import Chains
from tests.cluster.findings import Differs
from tests.cluster.installation import WEB, WORKERS, Cluster
from tests.cluster.layout import Layout
from tests.cluster.tenants import Tenants

UPGRADE = "rolling upgrade"
"""The first check, because the cluster then starts as the version before the newest revision of the schema."""
CHECKS: dict[str, sharing.Check] = {
    UPGRADE: deaths.upgrade,
    "sessions": sharing.sessions,
    "idempotency": sharing.idempotency,
    "rate limits": sharing.rate_limits,
    "replica reads": sharing.replica_reads,
    "leaders": sharing.leaders,
    **{f"death of {name}": deaths.death(name) for name in (*WEB, *WORKERS)},
    "hung worker": deaths.hang,
    "redis": deaths.redis,
    "console": console.main_job,
    "rolling restart": deaths.rolling,
    "primary": deaths.primary,
}


async def run(layout: Layout, chosen: Sequence[str]) -> bool:
    """Run the chosen checks; return whether all passed."""
    chains = Chains()
    say(f"logs in {layout.folder}")
    began = time.monotonic()
    chains.start()
    cluster, tenants, is_good = Cluster(layout, chains), Tenants(layout), True
    try:
        if UPGRADE in chosen:
            cluster.version = previous.unpack(previous.commit(), layout.folder / "previous")
        await cluster.start()
        say(f"started after {time.monotonic() - began:.0f} s")
        for name in chosen:
            is_good &= await _check(name, cluster, tenants)
    except Exception as error:  # the logs say more
        say(f"FAIL start: {type(error).__name__}: {error}")
        is_good = False
    finally:
        await cluster.stop()
        for hooks in tenants.hooks:
            hooks.close()
        chains.stop()
    return is_good


async def _check(name: str, cluster: Cluster, tenants: Tenants) -> bool:
    began = time.monotonic()
    try:
        seen, is_good = await CHECKS[name](cluster, tenants), True
    except Exception as error:  # the other checks continue
        with (cluster.layout.folder / "checks.log").open("a") as log:
            traceback.print_exception(error, file=log)
        seen, is_good = str(error) if isinstance(error, Differs) else f"{type(error).__name__}: {error}", False
    say(f"{'ok  ' if is_good else 'FAIL'} {name} ({time.monotonic() - began:.0f} s): {seen}")
    return is_good


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
