"""Requests that are generated for one operation, and how they are sent."""

import asyncio
from collections.abc import Iterator
from typing import Any

from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

from backend.core.settings import settings
from backend.users.schemas import Role
from tests.conftest import World
from tests.openapi.installation import Installation, give_key, schema_of
from tests.openapi.operations import DOCUMENT, Case

SCHEMA = schema_of(DOCUMENT)
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


async def headers_for(installation: Installation, case: Case) -> dict[str, str]:
    """Credentials that open an operation; those of another person if it would end them."""
    firm = installation.firm
    # With permission it would stop the chains of all tests and move their time by years.
    role = Role.VIEWER if case.path.startswith("/v1/devnet") else Role.ADMIN
    person = firm.admin if case.takes_key or case.is_open else await World(firm.admin.client).person(firm.id, role)
    return {"cookie": person.cookie, "origin": settings().origin, **firm.key}


def known_ids(installation: Installation, case: Case) -> dict[str, str]:
    """Existing ids of the path; only the organization's if the operation would delete a record."""
    kept = {"orgId"} if case.method == "delete" else set(installation.ids)
    return {k: v for k, v in installation.ids.items() if k in kept and f"{{{k}}}" in case.path}


def edges(case: Case, most: int) -> list[Any]:
    """Return requests at the edges of an operation's schemas, evenly over all there are."""
    operation = SCHEMA[case.path][case.method.upper()]
    generation = SCHEMA.config.generation
    while True:
        try:
            every = list(SCHEMA.iter_coverage_cases(operation, generation_modes=MODES, generation_config=generation))
            break
        except SystemError:
            # CPython 3.11 counts the depth of syntax trees for all threads together: when two of them parse at the same
            # time, as hypothesis does here and a logged traceback does there, one of them fails (gh-106905).
            continue
    return every[:: -(-len(every) // most) or 1] if most else []


def led(generated: list[Any], fixed: dict[str, str]) -> Iterator[Any]:
    """Put existing ids into the paths of requests, unless the id is what is wrong."""
    for request in generated:
        for name in fixed.keys() & (request.path_parameters or {}).keys():
            if not request.meta.is_negative_at(ParameterLocation.PATH):
                request.path_parameters[name] = fixed[name]
        yield request


def answer_to(installation: Installation, generated: Any, headers: dict[str, str]) -> int:
    """Send a generated request, from another thread than the installation's, check the response against the document,
    and return its status."""
    give_key(generated)
    sent = generated.as_transport_kwargs(base_url=settings().origin)
    response = asyncio.run_coroutine_threadsafe(installation.send(sent, headers), installation.loop).result(60)
    installation.judge(generated, response, headers)
    return response.status_code
