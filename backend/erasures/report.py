"""What an erasure erased, and what stays with the reason."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.core.errors import CannotStart
from backend.erasures.texts import Eraser


@dataclass
class Report:
    """Rows by table, and lines about what stays."""

    subject: str
    erased: Counter[str] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)

    def lines(self, *, is_done: bool) -> Iterator[str]:
        """Yield the report in words. It names only the subject that the operator named."""
        if not self.erased:
            yield f"{self.subject}: there is nothing to erase."
            return
        yield f"{self.subject}: {'erased' if is_done else 'this would be erased'}"
        width = max(map(len, self.erased))
        yield from (f"  {table:<{width}}  {count}" for table, count in sorted(self.erased.items()))
        yield "This stays:"
        yield from (f"  {line}" for line in self.kept)
        if not is_done:
            yield "Nothing was changed. Repeat the command with --yes to erase it. It cannot be undone."


def refuse(reasons: list[str]) -> None:
    """Raise CannotStart with all reasons, if there are any."""
    if reasons:
        raise CannotStart("\n".join(reasons))


def check_reason(reason: str, eraser: Eraser) -> None:
    """Raise CannotStart if the reason, which stays in the audit log, names the subject or is empty."""
    if not reason.strip():
        raise CannotStart("--reason is empty. It is stored in the audit log.")
    if eraser.matches(reason):
        raise CannotStart("--reason has the name or email that is to be erased, and stays in the audit log. Omit it.")
