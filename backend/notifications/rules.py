"""Words of notifications. Pure functions."""

from collections.abc import Sequence
from datetime import tzinfo
from uuid import UUID

from backend.mail.rules import unlinked
from backend.notifications.schemas import Notification

WHY_DISABLED = {
    "gone": "The receiver answered 410 (gone)",
    "failing": "Every attempt has failed for 3 days",
    "maker_ended": "The API key or application that created it no longer works",
    "too_many_events": "It received too many events in a day",
}
LAST_LINE = "You get this email on days on which something waits for you. To stop it, open {origin}/account."
CLOSED = "- Something waits. It is shown from this organization's allowed IP addresses only."
LONGEST = 200
"""Characters of a comment that are shown."""


def approval(who: Sequence[str | None]) -> str:
    """Return the detail of an approval: the person who requested it, and the key or application that they used."""
    return f"{' with '.join(filter(None, who)) or 'Someone'} requested this. It needs a second person"


def comment(who: str | None, text: str) -> str:
    """Return the detail of a comment: who wrote it, and its beginning on one line."""
    words = " ".join(text.split())
    return f"{who or 'Someone'}: {words if len(words) <= LONGEST else words[: LONGEST - 1] + '…'}"


def parties(count: int) -> str:
    """Return the title of parties that wait for a decision."""
    return f"{_counted(count, 'party')} {_verb(count, 'waits')} for identity review"


def attestations(count: int) -> str:
    """Return the title of attestations that end soon."""
    return f"{_counted(count, 'attestation')} {_verb(count, 'expires')} within 30 days"


def invitations(count: int) -> str:
    """Return the title of invitations that no one has accepted yet."""
    return f"{_counted(count, 'invitation')} {'is' if count == 1 else 'are'} still pending"


def more(count: int, kind: str) -> str:
    """Return the title of further records of a kind."""
    return f"{count:,} more {_plural(kind, count)}"


def names(some: Sequence[str], count: int) -> str:
    """Return the first names, and how many more there are; empty without names."""
    known = [name for name in some if name]
    rest = f" and {count - len(known):,} more" if known and count > len(known) else ""
    return ", ".join(known) + rest


def letter(found: Sequence[tuple[UUID, str, Sequence[Notification] | None]], zone: tzinfo, origin: str) -> str:
    """Return the text of an email about what waits for a person, by organization, with times in their time zone. Where
    it is None, only that something waits."""
    parts = [
        "\n".join([unlinked(name), *_lines(waiting, zone), f"{origin}/o/{id_}/overview"])
        for id_, name, waiting in found
    ]
    return "\n\n".join([*parts, LAST_LINE.format(origin=origin)])


def _lines(waiting: Sequence[Notification] | None, zone: tzinfo) -> list[str]:
    return [CLOSED] if waiting is None else [_line(one, zone) for one in waiting]


def _line(one: Notification, zone: tzinfo) -> str:
    at = one.at.astimezone(zone)
    detail = f" {unlinked(one.detail)}." if one.detail else ""
    return f"- {unlinked(one.title)}.{detail} Since {at.day} {at:%B %Y, %H:%M} ({zone})."


def _counted(count: int, word: str) -> str:
    return f"{count:,} {_plural(word, count)}"


def _verb(count: int, word: str) -> str:
    return word if count == 1 else word.removesuffix("s")


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
