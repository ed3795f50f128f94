"""When the operator delivers a packet that others should have delivered."""

import time

from backend.chain.layerzero.relayer import Delivery, DeliveryStatus

EXECUTORS = 120.0
"""Seconds that a public chain's executors have to deliver a verified packet before the operator does."""


class Patience:
    """How long to wait for others to deliver what they verified. An executor tries once: no one else delivers a packet
    that was refused then and would be accepted now."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._refused = False

    def ends(self, delivery: Delivery) -> bool:
        """Return whether the operator must deliver, from the latest observation."""
        self._refused = self._refused or delivery.status is DeliveryStatus.REFUSED
        if delivery.status is not DeliveryStatus.READY:
            self._since = None
            return False
        self._since = self._since or time.monotonic()
        return self._refused or time.monotonic() - self._since >= EXECUTORS
