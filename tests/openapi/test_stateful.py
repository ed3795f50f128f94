"""One operation after another, along the document's links: what was made is found, what was removed is gone."""

import asyncio
import os
from collections import Counter
from contextlib import suppress
from traceback import format_exception_only
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.config import InferenceAlgorithm
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.wfc.escalation import EscalatingAuthProvider

from backend.settings import settings
from tests.conftest import World
from tests.openapi.installation import Installation, give_key, schema_of
from tests.openapi.operations import DOCUMENT

ROUNDS = 3
OURS, THEIRS = "ours", "theirs"
STEPS = int(os.environ.get("SIGNUM_TEST_STEPS", "14"))
"""Of each of four walks. More of them take a second each, by hand."""
BOUNDED = hypothesis_settings(
    max_examples=4,
    stateful_step_count=STEPS,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def _document() -> dict[str, Any]:
    """The document without the operations that would stop the chains of all tests and move their time by years."""
    return DOCUMENT | {"paths": {p: i for p, i in DOCUMENT["paths"].items() if not p.startswith("/v1/devnet")}}


class Credentials:
    """What somebody sends along, and how often that was."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.sent = 0

    def get(self, *_: Any) -> dict[str, str]:
        return self.headers

    def set(self, case: Any, headers: dict[str, str], _: Any) -> None:
        case.headers.update(headers)
        self.sent += bool(case.headers)


class Walk:
    """The answers of all scenarios."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.answers: Counter[int] = Counter()
        self.linked: Counter[int] = Counter()
        self.faults: list[str] = []
        self.ours, self.theirs = Credentials(), Credentials()

    def wait(self, work: Any) -> Any:
        """Do something in the loop of the installation."""
        return asyncio.run_coroutine_threadsafe(work, self.installation.loop).result(30)

    async def begin(self) -> None:
        """A new admin and a new key: a scenario may end its session, revoke its key and leave the organization. And as
        much in an organization that must see nothing of it."""
        world = World(self.installation.firm.admin.client)
        foreign = await world.organization("Theirs")
        for who, organization in ((self.ours, self.installation.firm.id), (self.theirs, foreign)):
            person, key = await world.person(organization), await world.key(organization)
            who.headers = {"cookie": person.cookie, "origin": settings().origin, **key}

    def lead(self, step: Any) -> None:
        """Ids that no link has filled lead to what the installation has, so that a first step can succeed."""
        filled = {name for location, name in step.applied_parameters if location is ParameterLocation.PATH}
        known = {"orgId"} if step.case.method == "DELETE" else set(self.installation.ids)
        for name in (known - filled).intersection(step.case.path_parameters or {}):
            step.case.path_parameters[name] = self.installation.ids[name]

    def machine(self, inference: list[InferenceAlgorithm]) -> Any:
        """The state machine of the document's links, and of those that its schemas imply."""
        walk = self
        schema = schema_of(_document())
        schema.config.phases.stateful.inference.algorithms = inference
        people: Any = [self.ours, self.theirs]
        names = [OURS, THEIRS]
        schema.auth.providers.append(EscalatingAuthProvider(people, names, peers=tuple(names), pinned=OURS))

        class Machine(schema.as_state_machine()):  # type: ignore[misc]
            def setup(self) -> None:
                walk.wait(walk.begin())

            def call(self, case: Any, **_: Any) -> Response:
                give_key(case)
                sent = case.as_transport_kwargs(base_url=settings().origin)
                return Response.from_any(walk.wait(walk.installation.send(sent, walk.ours.headers)))

            def step(self, input: Any) -> Any:
                walk.lead(input)
                output = super().step(input)
                status = output.response.status_code
                walk.answers[status] += 1
                if input.transition is not None and input.is_applied:
                    walk.linked[status] += 1
                return output

            def validate_response(self, response: Response, case: Any, **_: Any) -> None:
                try:
                    walk.installation.judge(case, response, walk.ours.headers, recorder=self.recorder)
                except (AssertionError, FailureGroup) as fault:
                    walk.faults.append("".join(format_exception_only(fault)))

        return Machine


@pytest.mark.parametrize("inference", [[], list(InferenceAlgorithm)], ids=["links of the document", "and implied ones"])
async def test_answers_along_the_links_are_as_documented(
    installation: Installation, inference: list[InferenceAlgorithm]
) -> None:
    walk = Walk(installation)
    machine = walk.machine(inference)
    for start in range(ROUNDS):
        machine.rule_order_seed = start  # so that each round begins with other operations
        with suppress(FlakyStrategyDefinition):  # the same choices lead elsewhere once the installation has changed
            await asyncio.to_thread(seed(start)(machine).run, settings=BOUNDED)
    assert walk.faults == []
    assert walk.linked[200] >= 3, f"the links lead nowhere: {walk.answers}"
    assert walk.theirs.sent, "nothing of ours was asked for by others"
