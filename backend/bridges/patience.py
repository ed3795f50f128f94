"""When a packet that others were to deliver is for us to deliver."""

import time

from backend.chain.relayer import Delivery, DeliveryStatus

EXECUTORS = 120.0
"""Seconds that the executors of a public chain have to deliver what is verified, before the operator does."""


class Patience:
    """How long others are waited for to deliver what they have verified. An executor tries once: what was refused and
    would be taken now, nobody else will bring."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._refused = False

    def ends(self, delivery: Delivery) -> bool:
        """Whether it is for us to deliver, by what was just seen."""
        self._refused = self._refused or delivery.status is DeliveryStatus.REFUSED
        if delivery.status is not DeliveryStatus.READY:
            self._since = None
            return False
        self._since = self._since or time.monotonic()
        return self._refused or time.monotonic() - self._since >= EXECUTORS
