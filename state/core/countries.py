"""Names and codes of countries."""

import pycountry

NAMES: dict[str, str] = {
    country.alpha_3: getattr(country, "common_name", country.name)
    for country in sorted(pycountry.countries, key=lambda c: getattr(c, "common_name", c.name))
}
"""ISO 3166-1 alpha-3 codes and names, sorted by name."""

_CODES = {name.casefold(): code for code, name in NAMES.items()}


def country_name(code: str) -> str:
    """Return a country's name, or the code itself if it is unknown."""
    return NAMES.get(code, code)


def written(code: str) -> str:
    """Return `Sweden (SWE)`, as a field offers it."""
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def country_code(text: str) -> str:
    """Return the code of `Sweden (SWE)`, `Sweden` or `swe`; unknown text is returned unchanged."""
    plain = text.strip()
    if plain.endswith(")") and "(" in plain:
        plain = plain[:-1].rpartition("(")[2].strip()
    return _CODES.get(plain.casefold(), plain.upper() if plain.upper() in NAMES else plain)
