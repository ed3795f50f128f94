"""Generated requests against the document: no internal errors, and no undocumented responses."""

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from tests.openapi.installation import Installation
from tests.openapi.operations import CASES, Case
from tests.openapi.sources import MODES, SCHEMA, answer_to, edges, headers_for, known_ids, led

EXAMPLES = 3
EDGES = int(os.environ.get("SIGNUM_TEST_EDGES", "12"))
"""Edges per operation, evenly over all there are. `SIGNUM_TEST_EDGES=100000` takes each of them, in some minutes."""


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


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_responses_at_schema_edges_match_the_document(installation: Installation, case: Case) -> None:
    """Each parameter and field alone at its bounds, beyond them, missing, of every other type; other methods."""
    headers, fixed = await headers_for(installation, case), known_ids(installation, case)

    def run() -> None:
        for generated in led(edges(case, EDGES), fixed):
            answer_to(installation, generated, headers)

    await asyncio.to_thread(run)


@pytest.mark.nightly
def test_generated_requests_to_a_served_installation_find_no_failure() -> None:
    """A small share of the cases, as `python -m tests.openapi.generated` sends them to `signum serve`."""
    command = [sys.executable, "-m", "tests.openapi.generated", "--cases", "400", "--seed", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stdout[-4_000:] + ended.stderr[-4_000:]
    assert ", 0 failures" in ended.stdout
