"""Sequences of operations, along the document's links: created records are found, deleted ones are gone."""

import asyncio
import os
from contextlib import suppress

import pytest
from hypothesis import seed
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.config import InferenceAlgorithm

from tests.openapi.installation import Installation
from tests.openapi.walks import Walk, bounds

ROUNDS = 3
MOST_ROUNDS = 12
"""Rounds until another organization's caller has asked for a record too: which steps a walk takes depends on the whole
document."""
STEPS = int(os.environ.get("SIGNUM_TEST_STEPS", "14"))
"""Of each of four walks. Further ones take a second each; run them manually."""
BOUNDED = bounds(4, STEPS)


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize(
    "inference",
    [pytest.param([], id="links of the document"), pytest.param(list(InferenceAlgorithm), id="and implied ones")],
)
async def test_responses_along_links_match_the_document(
    installation: Installation, inference: list[InferenceAlgorithm]
) -> None:
    walk = Walk(installation)
    machine = walk.machine(inference)
    for start in range(MOST_ROUNDS):
        if start >= ROUNDS and walk.foreign.sent:
            break
        machine.rule_order_seed = start  # so that each round starts with other operations
        with suppress(FlakyStrategyDefinition):  # the same choices lead elsewhere once the installation has changed
            await asyncio.to_thread(seed(start)(machine).run, settings=BOUNDED)
    assert walk.faults == []
    assert walk.linked[200] >= 3, f"the links lead nowhere: {walk.answers}"
    assert walk.foreign.sent, "no foreign caller requested our records"
