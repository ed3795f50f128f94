"""The end of a command: printed problems and exit codes."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Iterator
from enum import IntEnum
from functools import wraps
from typing import Any, ParamSpec

import typer

P = ParamSpec("P")


class Exit(IntEnum):
    """Exit codes, as docs/cli.md lists them. 2 is Typer's, for an invalid command line."""

    DONE = 0
    CANNOT = 1
    REFUSED = 3
    SIGNED_OUT = 4
    FAILED = 5
    STILL_RUNNING = 6
    UNREACHABLE = 7


class CannotRun(Exception):
    """A command lacks a precondition; the message says what to do."""


def command(body: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a command's coroutine and exit with the code of its outcome."""

    @wraps(body)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        code = _outcome(body(*args, **kwargs), as_json=bool(kwargs.get("as_json")))
        if code is not Exit.DONE:
            raise typer.Exit(code)

    return run


def _outcome(work: Coroutine[Any, Any, None], *, as_json: bool) -> Exit:
    import httpx
    from pydantic import ValidationError

    from backend.cli.progress import RequestFailed
    from backend.client import ApiProblem
    from backend.core.problems.validation_words import said

    try:
        asyncio.run(work)
    except RequestFailed as failed:
        return _problem(failed.problem, Exit.FAILED, as_json)
    except ApiProblem as problem:
        return _problem(problem, _code(problem), as_json)
    except TimeoutError:
        return _said("It is still running; follow it with `signum requests watch`.", Exit.STILL_RUNNING)
    except ValidationError as error:
        return _said("\n".join(f"{'/'.join(map(str, e['loc']))}: {said(e)}" for e in error.errors()), Exit.REFUSED)
    except httpx.TransportError as error:
        is_trust = any(word in str(error) for word in ("CERTIFICATE", "SSL_CERT_FILE"))
        why = str(error) if is_trust else type(error).__name__
        return _said(f"Signum cannot be reached ({why}). Check SIGNUM_URL.", Exit.UNREACHABLE)
    except CannotRun as error:
        return _said(str(error), Exit.CANNOT)
    except KeyboardInterrupt:
        return _said("Stopped watching. Accepted requests continue.", Exit.STILL_RUNNING)
    return Exit.DONE


def _code(problem: Any) -> Exit:
    if problem.status == 401:
        return Exit.SIGNED_OUT
    return Exit.UNREACHABLE if problem.status >= 500 else Exit.REFUSED


def _problem(problem: Any, code: Exit, as_json: bool) -> Exit:
    return _said(json.dumps(problem.body) if as_json else "\n".join(words_of(problem)), code)


def _said(words: str, code: Exit) -> Exit:
    sys.stderr.write(words + "\n")
    return code


def words_of(problem: Any) -> Iterator[str]:
    """Yield a problem for people: its title, each rule or finding, its resolution, and its ID for support."""
    yield f"{problem.title} ({problem.status})"
    if problem.detail and not problem.rules:
        yield f"  {problem.detail}"
    for finding in problem.errors:
        yield f"  {finding['pointer']}: {finding['detail']}"
    for rule in problem.rules:
        if not rule.get("passed"):
            yield f"  {rule['rule']}: {rule['reason']}"
            yield from _resolution(rule.get("resolution"))
    for entry in problem.prerequisites:
        yield f"  [{'x' if entry.get('satisfied') else ' '}] {entry['state']}"
        if not entry.get("satisfied"):
            yield from _resolution(entry.get("resolution"))
    if problem.status == 401:
        yield "  Sign in with `signum login`, or set SIGNUM_API_KEY."
    if problem.instance:
        yield f"  {problem.instance}"


def _resolution(resolution: Any) -> Iterator[str]:
    if isinstance(resolution, dict):
        call = f" ({resolution['method']} {resolution['href']})" if resolution.get("href") else ""
        yield f"      {resolution.get('description', '')}{call}"
    elif resolution:
        yield f"      {resolution}"
