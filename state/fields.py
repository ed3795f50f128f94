"""What a schema finds in a form, by field."""

from pydantic import ValidationError


def findings(error: ValidationError) -> dict[str, str]:
    """Field to words; pydantic's "Value error, " is taken away."""
    return {_name(found["loc"]): _words(found["msg"]) for found in error.errors()}


def _name(loc: tuple[int | str, ...]) -> str:
    return next((part for part in reversed(loc) if isinstance(part, str)), "form")


def _words(message: str) -> str:
    plain = message.removeprefix("Value error, ")
    return plain[:1].upper() + plain[1:]
