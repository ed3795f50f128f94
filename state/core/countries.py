"""Countries as fields offer and take them."""

from backend.compliance.countries import NAMES

_CODES = {name.casefold(): code for code, name in NAMES.items()}


def written(code: str) -> str:
    """Return `Sweden (SWE)`, as a field offers it."""
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def country_code(text: str) -> str:
    """Return the code of `Sweden (SWE)`, `Sweden` or `swe`; unknown text is returned unchanged."""
    plain = text.strip()
    if plain.endswith(")") and "(" in plain:
        plain = plain[:-1].rpartition("(")[2].strip()
    return _CODES.get(plain.casefold(), plain.upper() if plain.upper() in NAMES else plain)


def unwritten(text: str) -> str:
    """Return the code of `Sweden (SWE)`, and any other text unchanged: `Georgia` may be a country or a state."""
    code = country_code(text)
    return code if text.strip() == written(code) else text
