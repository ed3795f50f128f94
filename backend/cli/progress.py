"""Progress of an accepted request, step by step."""

import asyncio
import sys
from collections.abc import Iterator

from backend.cli import output
from backend.client import ApiProblem, Id, SignumClient
from backend.core.fields import Acceptance
from backend.requests.schemas import Request, RequestStatus, RequestStep, StepStatus

MARKS = {StepStatus.RUNNING: "…", StepStatus.SUCCEEDED: "✓", StepStatus.FAILED: "✗"}


class RequestFailed(Exception):
    """A request did not succeed; `problem` is the reason."""

    def __init__(self, problem: ApiProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


async def answered(
    client: SignumClient, accepted: Acceptance, org_id: Id, *, wait: bool, timeout: float, as_json: bool
) -> None:
    """Print the response to an accepted operation, or with `wait` its result."""
    if wait:
        await follow(client, accepted.request_id, org_id, timeout=timeout, as_json=as_json)
    elif as_json:
        output.show(accepted)
    else:
        output.say(f"{accepted.message}\nFollow it with: signum requests watch {accepted.request_id} --org {org_id}")


async def follow(client: SignumClient, request_id: Id, org_id: Id, *, timeout: float, as_json: bool) -> Request:
    """Print each step as it changes (on standard error), then the request. Raises RequestFailed, TimeoutError."""
    seen: set[str] = set()
    async with asyncio.timeout(timeout):
        async for request in client.watch(request_id, org_id=org_id):
            last = request
            for line in _news(request, seen):
                sys.stderr.write(line + "\n")
                sys.stderr.flush()
    if last.status is not RequestStatus.SUCCEEDED:
        body = last.problem or {"status": 409, "title": last.status.value.capitalize(), "detail": last.title}
        raise RequestFailed(ApiProblem(body))
    if as_json:
        output.show(last)
    else:
        output.say(f"{last.title}: done.")
    return last


def _news(request: Request, seen: set[str]) -> Iterator[str]:
    """Yield a line for each step with a new status, and for a new notice."""
    if request.notice and request.notice not in seen:
        seen.add(request.notice)
        yield request.notice
    for step in request.steps:
        if step.status in MARKS and (name := f"{step.name}:{step.status}") not in seen:
            seen.add(name)
            yield _line(step)


def _line(step: RequestStep) -> str:
    where = f" on {step.chain_name}" if step.chain_name else ""
    more = " ".join(filter(None, (step.detail, step.tx_hash)))
    return f"{MARKS[step.status]} {step.title}{where}{'  ' + more if more else ''}"
