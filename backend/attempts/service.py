"""Make attempts, one at a time, and return what happened."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context as Variables
from dataclasses import dataclass

import structlog

from backend.attempts import against_machinery, against_rules, records
from backend.attempts.records import Record
from backend.attempts.scene import Scene
from backend.attempts.schemas import Attempt, AttemptKind, AttemptList, AttemptStatus
from backend.auth.principal import Context
from backend.chain import devnet_faults
from backend.chain.errors import RpcError
from backend.core.errors import Conflict, NotFound, SignumError
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.devnet import reset
from backend.devnet import service as devnet

log = structlog.get_logger()
MADE: dict[AttemptKind, Callable[[Scene], Awaitable[None]]] = {
    AttemptKind.BLOCKED_COUNTRY: against_rules.blocked_country,
    AttemptKind.LOCKED_UP: against_rules.locked_up,
    AttemptKind.SECOND_WALLET: against_rules.second_wallet,
    AttemptKind.EXPIRED_ATTESTATION: against_rules.expired_attestation,
    AttemptKind.BUYERS_CASH: against_rules.buyers_cash,
    AttemptKind.STOPPED_CHAIN: against_machinery.stopped_chain,
    AttemptKind.REFUSED_PACKET: against_machinery.refused_packet,
    AttemptKind.REORGANIZATION: against_machinery.reorganization,
    AttemptKind.KILLED_SERVER: against_machinery.killed_server,
}
LOST = "The server stopped during this attempt. Try again."


@dataclass
class Running:
    """The attempt that this process makes."""

    task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether an attempt runs."""
        return self.task is not None and not self.task.done()


async def check(context: Context) -> None:
    """Raise 404 unless the installation is a local demo; 403 unless an admin of the operator's organization asks."""
    if not settings().is_local_demo:
        raise NotFound("No resource exists at this address.")
    await devnet.check(context)


def found() -> AttemptList:
    """Return the newest attempt of each kind."""
    return AttemptList(attempts=[records.read(kind) for kind in AttemptKind], can_kill=reset.is_possible(settings()))


def begin(context: Context, kind: AttemptKind) -> Attempt:
    """Begin an attempt in the entered organization; 409 while another one runs."""
    running = runtime.part(Running)
    if running.is_busy:
        raise Conflict("Another attempt runs. Wait until it ends.")
    if kind is AttemptKind.KILLED_SERVER and not reset.is_possible(settings()):
        raise Conflict("This server cannot be killed, because it would not start again. Only `signum serve` can.")
    scene = Scene(context, Record.begun(kind))
    # Without the request's variables: its transaction ends before the attempt does.
    running.task = Variables().run(asyncio.get_running_loop().create_task, _make(scene))
    return scene.record.attempt


async def carry_on() -> None:
    """Continue the attempt during which the server was killed; every other one that was running is lost."""
    if not settings().is_local_demo:
        return
    for attempt in found().attempts:
        if attempt.status is not AttemptStatus.RUNNING:
            continue
        record = Record(attempt)
        if attempt.kind is AttemptKind.KILLED_SERVER and attempt.request_id is not None:
            await _to_its_end(record, against_machinery.continued(record))
        else:
            record.end(LOST)


async def _make(scene: Scene) -> None:
    async def whole() -> None:
        try:
            await MADE[scene.record.kind](scene)
            scene.record.right_again()
        finally:
            await devnet_faults.end_all()
            await scene.tidy_up()

    await _to_its_end(scene.record, whole())


async def _to_its_end(record: Record, work: Awaitable[None]) -> None:
    """Do the work; what prevents the attempt is its result."""
    try:
        await work
    except (SignumError, RpcError, TimeoutError) as error:
        log.warning("attempt.failed", kind=record.kind, error=str(error))
        record.end(getattr(error, "detail", "") or str(error) or "The chain did not answer in time.")
    except Exception:
        log.exception("attempt.failed", kind=record.kind)
        record.end("It failed for an unknown reason. The server's log has it.")
    else:
        record.end()
