"""Walks along the document's links: each step sends what an earlier response names."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import format_exception_only
from typing import Any

from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from schemathesis.config import InferenceAlgorithm
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.wfc.escalation import EscalatingAuthProvider

from backend.core.settings import settings
from tests.conftest import World
from tests.openapi.installation import Installation, give_key, schema_of
from tests.openapi.operations import DOCUMENT

OWN, FOREIGN = "own", "foreign"


def bounds(walks: int, steps: int) -> hypothesis_settings:
    """So many walks of so many steps. The same seed gives the same ones."""
    return hypothesis_settings(
        max_examples=walks,
        stateful_step_count=steps,
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
    """Credentials that a scenario sends, and how often."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.sent = 0

    def get(self, *_: Any) -> dict[str, str]:
        return self.headers

    def set(self, case: Any, headers: dict[str, str], _: Any) -> None:
        case.headers.update(headers)
        self.sent += bool(case.headers)


class Walk:
    """The responses of all scenarios."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.answers: Counter[int] = Counter()
        self.linked: Counter[int] = Counter()
        self.faults: list[str] = []
        self.own, self.foreign = Credentials(), Credentials()

    def wait(self, work: Any) -> Any:
        """Run in the loop of the installation."""
        return asyncio.run_coroutine_threadsafe(work, self.installation.loop).result(60)

    async def begin(self) -> None:
        """A new admin and a new key: a scenario can end its session, revoke its key and leave the organization. The
        same in an organization that must not see its records."""
        world = World(self.installation.firm.admin.client)
        foreign = await world.organization("Foreign")
        for who, organization in ((self.own, self.installation.firm.id), (self.foreign, foreign)):
            person, key = await world.person(organization), await world.key(organization)
            who.headers = {"cookie": person.cookie, "origin": settings().origin, **key}

    def lead(self, step: Any) -> None:
        """Ids that no link has filled are those of the installation's records, so that a first step can succeed."""
        filled = {name for location, name in step.applied_parameters if location is ParameterLocation.PATH}
        known = {"orgId"} if step.case.method == "DELETE" else set(self.installation.ids)
        for name in (known - filled).intersection(step.case.path_parameters or {}):
            step.case.path_parameters[name] = self.installation.ids[name]

    @contextmanager
    def noted(self, case: Any) -> Iterator[None]:
        """Note a failure instead of ending the walk."""
        try:
            yield
        except (AssertionError, FailureGroup) as fault:
            self.faults.append(f"{case.operation.label}: {''.join(format_exception_only(fault))}")

    def machine(self, inference: list[InferenceAlgorithm]) -> Any:
        """The state machine of the document's links, and of those that its schemas imply."""
        walk = self
        schema = schema_of(_document())
        schema.config.phases.stateful.inference.algorithms = inference
        people: Any = [self.own, self.foreign]
        names = [OWN, FOREIGN]
        schema.auth.providers.append(EscalatingAuthProvider(people, names, peers=tuple(names), pinned=OWN))

        class Machine(schema.as_state_machine()):  # type: ignore[misc]
            def setup(self) -> None:
                walk.wait(walk.begin())

            def call(self, case: Any, **_: Any) -> Response:
                give_key(case)
                sent = case.as_transport_kwargs(base_url=settings().origin)
                return Response.from_any(walk.wait(walk.installation.send(sent, walk.own.headers)))

            def step(self, input: Any) -> Any:
                walk.lead(input)
                output = super().step(input)
                status = output.response.status_code
                walk.answers[status] += 1
                if input.transition is not None and input.is_applied:
                    walk.linked[status] += 1
                return output

            def validate_response(self, response: Response, case: Any, **_: Any) -> None:
                with walk.noted(case):
                    walk.installation.judge(case, response, walk.own.headers, recorder=self.recorder)

        return Machine
