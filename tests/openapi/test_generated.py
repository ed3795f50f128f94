"""Generated requests against the document: no internal errors, and no undocumented responses."""

import asyncio
import os
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

from backend.core.settings import settings
from backend.users.schemas import Role
from tests.conftest import World
from tests.openapi.installation import Installation, give_key, schema_of
from tests.openapi.operations import CASES, DOCUMENT, Case

EXAMPLES = 3
EDGES = int(os.environ.get("SIGNUM_TEST_EDGES", "12"))
"""Edges per operation, evenly over all there are. `SIGNUM_TEST_EDGES=100000` takes each of them, in some minutes."""
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


def answer_to(installation: Installation, generated: Any, headers: dict[str, str]) -> None:
    """Send a generated request, from another thread than the installation's, and check the response against the
    document."""
    give_key(generated)
    sent = generated.as_transport_kwargs(base_url=settings().origin)
    waiting = asyncio.run_coroutine_threadsafe(installation.send(sent, headers), installation.loop)
    installation.judge(generated, waiting.result(30), headers)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES, ids=["fits", "does not fit"])
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_responses_match_the_document(installation: Installation, case: Case, mode: GenerationMode) -> None:
    operation, headers = SCHEMA[case.path][case.method.upper()], await headers_for(installation, case)
    fixed = known_ids(installation, case)

    @hypothesis_settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(generated=operation.as_strategy(mode, path_parameters=fixed or None))
    def run(generated: Any) -> None:
        answer_to(installation, generated, headers)

    with suppress(Unsatisfiable):  # nothing of it can be wrong
        await asyncio.to_thread(run)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_responses_at_schema_edges_match_the_document(installation: Installation, case: Case) -> None:
    """Each parameter and field alone at its bounds, beyond them, missing, of every other type; other methods."""
    operation, headers = SCHEMA[case.path][case.method.upper()], await headers_for(installation, case)
    fixed = known_ids(installation, case)

    def cases() -> list[Any]:
        config = SCHEMA.config.generation
        every = list(SCHEMA.iter_coverage_cases(operation, generation_modes=MODES, generation_config=config))
        return every[:: -(-len(every) // EDGES) or 1]

    def run() -> None:
        for generated in cases():
            for name in fixed.keys() & (generated.path_parameters or {}).keys():
                if not generated.meta.is_negative_at(ParameterLocation.PATH):
                    generated.path_parameters[name] = fixed[name]
            answer_to(installation, generated, headers)

    await asyncio.to_thread(run)
