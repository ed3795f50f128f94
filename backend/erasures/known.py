"""The person who is erased, as organizations know them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.erasures.texts import Eraser

ERASED = "Erased person"


@dataclass(frozen=True)
class Known:
    """A person: their names, as they and organizations wrote them, and the organizations that know them."""

    id: UUID
    email: str
    names: tuple[str, ...]
    places: Sequence[UUID]

    @property
    def everywhere(self) -> Eraser:
        """Return the eraser of the email, which is unique, in all organizations."""
        return Eraser(ERASED, (), (self.email,))

    @property
    def here(self) -> Eraser:
        """Return the eraser of the organizations that know the person: others may know another one by the name."""
        return Eraser(ERASED, self.names, (self.email,))
