"""The search for a recipient's proof."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.core.api import Form
from state.core.arguments import named
from state.core.events import Events
from state.core.holder_picker import ADDRESS, WRONG_CHECKSUM, is_valid
from state.distributions.detail import DistributionState


class ProofFinder(Form, rx.State):
    """The amount and proof of one address."""

    address: str = ""
    amount: str = ""
    index: int = 0
    claimed: bool = False
    text: str = ""
    """The arguments of `claim`, as JSON."""

    @rx.event
    def clear(self) -> None:
        """Clear the result."""
        self._done()
        self.address = self.text = ""

    @rx.event
    async def find(self, data: dict[str, Any]) -> Events:
        """Look an address up."""
        self._begin()
        self.address = self.text = ""
        yield
        wanted = named(data, "address")["address"]
        if len(wanted) != 42 or not wanted.isalnum():
            self.saving, self.errors = False, {"address": "An address is 0x and 40 hexadecimal digits"}
            return
        if ADDRESS.fullmatch(wanted) and not is_valid(wanted):
            self.saving, self.errors = False, {"address": WRONG_CHECKSUM}
            return
        page = await self.get_state(DistributionState)
        try:
            proof = await self._api.get_proof(*page._path(), wanted)
        except ApiProblem as problem:
            self._refused(problem)
            self.errors = {"address": problem.detail or problem.title}
            return
        self._done()
        self.address, self.amount, self.index = proof.address, proof.amount, proof.index
        self.claimed = proof.claimed
        self.text = proof.model_dump_json(exclude={"claimed"}, indent=1)
