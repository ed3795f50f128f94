"""Whatever can be thought of against the document: no fault of ours, and nothing that it does not say."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from backend.members.schemas import Role
from backend.settings import settings
from tests.conftest import World
from tests.openapi.installation import CHECKS, Installation, open_document
from tests.openapi.operations import CASES, DOCUMENT, Case

EXAMPLES = 3
SCHEMA = schemathesis.openapi.from_dict(open_document(DOCUMENT))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fits", "does not fit"])
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_answers_are_as_documented(installation: Installation, case: Case, mode: GenerationMode) -> None:
    firm, operation = installation.firm, SCHEMA[case.path][case.method.upper()]
    # Whoever may, would stop the chains of all tests and move their time by years.
    role = Role.VIEWER if case.path.startswith("/v1/devnet") else Role.ADMIN
    person = firm.admin if case.takes_key or case.is_open else await World(firm.admin.client).person(firm.id, role)
    headers = {"cookie": person.cookie, "origin": settings().origin, **firm.key}
    kept = {"orgId"} if case.method == "delete" else set(installation.ids)
    fixed = {k: v for k, v in installation.ids.items() if k in kept and f"{{{k}}}" in case.path}

    @hypothesis_settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(generated=operation.as_strategy(mode, path_parameters=fixed or None))
    def run(generated: Any) -> None:
        sent = generated.as_transport_kwargs(base_url=settings().origin)
        waiting = asyncio.run_coroutine_threadsafe(installation.send(sent, headers), installation.loop)
        answer = waiting.result(30)
        assert answer.status_code < 500, f"{sent} {answer.text}"
        generated.validate_response(answer, checks=CHECKS)

    with suppress(Unsatisfiable):  # nothing of it can be wrong
        await asyncio.to_thread(run)
