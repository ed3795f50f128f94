"""How hidden cards and seen times are kept. Pure functions."""

from collections.abc import Iterable, Mapping

from backend.preferences.schemas import MOST


def hidden(before: Iterable[str], hide: Iterable[str], show: Iterable[str]) -> list[str]:
    """Return the hidden cards after a change, the last hidden one last; a card in both lists is shown."""
    shown = set(show)
    newly = [card for card in dict.fromkeys(hide) if card not in shown]
    kept = [card for card in before if card not in shown and card not in newly]
    return [*kept, *newly][-MOST:]


def seen(before: Mapping[str, str], organization_id: str, at: str) -> dict[str, str]:
    """Return the seen times after a change, by organization: a time never goes back, and the newest ones are kept.

    Times are texts of the same form in UTC, which sort like the times.
    """
    after = {**before, organization_id: max(at, before.get(organization_id, ""))}
    newest = sorted(after, key=lambda one: after[one], reverse=True)[:MOST]
    return {one: after[one] for one in newest}
