"""Names and addresses that are erased, and their replacement in texts and JSON. Pure functions."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PERSONAL = frozenset(
    [
        "address",
        "description",
        "display_name",
        "email",
        "label",
        "name",
        "reason",
        "sha256",
        "user_agent",
        "wallet_address",
    ]
)
"""Fields of a record about the subject itself that are always erased."""


@dataclass(frozen=True)
class Eraser:
    """Replaces names and email addresses by a neutral word, where they stand as whole words, in any case."""

    word: str
    names: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> str:
        """Return a regular expression that Python and PostgreSQL read alike, also in the text of JSON."""
        names = "|".join(_forms(self.names))
        emails = "|".join(_forms(self.emails))
        parts = [rf"(?<!\w)({names})(?!\w)"] if names else []
        parts += [rf"(?<![\w.+-])({emails})(?![\w-]|\.\w)"] if emails else []
        return "|".join(parts)

    @cached_property
    def _known(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def matches(self, text: str) -> bool:
        """Return whether a text has one of the names."""
        return self._known.search(text) is not None

    def erased(self, value: Any) -> Any:
        """Return a text or JSON without the names."""
        if isinstance(value, str):
            return self._known.sub(self.word, value)
        if isinstance(value, dict):
            return {name: self.erased(part) for name, part in value.items()}
        return [self.erased(part) for part in value] if isinstance(value, list) else value

    def emptied(self, value: Any) -> Any:
        """Return a record about the subject itself: its personal fields are replaced too."""
        if isinstance(value, dict):
            return {name: self._field(name, part) for name, part in value.items()}
        return [self.emptied(part) for part in value] if isinstance(value, list) else self.erased(value)

    def _field(self, name: str, value: Any) -> Any:
        return self.word if name in PERSONAL and isinstance(value, str) else self.emptied(value)


def _forms(texts: Iterable[str]) -> list[str]:
    """Return each text and its form in JSON, escaped, the longest first."""
    forms = {form for text in texts for form in (text, json.dumps(text, ensure_ascii=False)[1:-1])}
    return [re.escape(form) for form in sorted(forms, key=len, reverse=True)]
