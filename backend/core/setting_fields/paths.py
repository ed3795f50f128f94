"""Settings of a bridge path: who verifies its packets, and what delivers them."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from backend.core.addresses import checksummed

MOST = 127
"""The most DVNs of a kind that LayerZero's libraries accept."""


def _addressed(value: str) -> str:
    return checksummed(value, value)


Address = Annotated[str, AfterValidator(_addressed)]


class PathEnd(BaseModel):
    """One end of a path: addresses on that chain. Without a library, the endpoint's default is pinned."""

    model_config = ConfigDict(extra="forbid")

    library: Address | None = None
    required_dvns: list[Address] = Field(min_length=1, max_length=MOST)
    optional_dvns: list[Address] = Field([], max_length=MOST)


class SendingEnd(PathEnd):
    """The sending end. Without an executor or a size, the library's default applies."""

    executor: Address | None = None
    max_message_size: int | None = Field(None, ge=256, lt=2**32)


class PathSettings(BaseModel):
    """A path from one chain to another. `send` has addresses on the source, `receive` on the destination."""

    model_config = ConfigDict(extra="forbid")

    send: SendingEnd
    receive: PathEnd
    confirmations: int = Field(ge=1, lt=2**64 - 1)
    """Blocks on the source before a DVN verifies a packet."""
    optional_threshold: int = Field(0, ge=0)
    """Number of optional DVNs that must also verify a packet."""
    enforced_gas: int = Field(300_000, ge=100_000, le=30_000_000)
    """Gas that every transfer of an amount buys for its delivery, regardless of the sender's options."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        mistakes = list(self._mistakes())
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self

    def _mistakes(self) -> Iterator[str]:
        send, receive = self.send, self.receive
        for kind in ("required", "optional"):
            here, there = len(getattr(send, f"{kind}_dvns")), len(getattr(receive, f"{kind}_dvns"))
            if here != there:
                yield f"send has {here} {kind} DVNs and receive has {there}; each DVN is named on both chains"
        for name, end in (("send", send), ("receive", receive)):
            every = [*end.required_dvns, *end.optional_dvns]
            if len(set(every)) != len(every):
                yield f"{name} names a DVN twice"
        threshold, optional = self.optional_threshold, len(send.optional_dvns)
        if threshold > optional:
            yield f"optional_threshold is {threshold}, but {optional} optional DVNs are named"
        if send.optional_dvns and not self.optional_threshold:
            yield "optional DVNs need an optional_threshold of at least 1"
