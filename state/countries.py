"""Countries as people write them."""

import pycountry

NAMES: dict[str, str] = {
    country.alpha_3: getattr(country, "common_name", country.name)
    for country in sorted(pycountry.countries, key=lambda c: getattr(c, "common_name", c.name))
}
"""ISO 3166-1 alpha-3 code to name, in the names' order."""

_CODES = {name.casefold(): code for code, name in NAMES.items()}


def country_name(code: str) -> str:
    """A country's name; the code itself where it is none."""
    return NAMES.get(code, code)


def written(code: str) -> str:
    """`Sweden (SWE)`, as a field offers it."""
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def country_code(text: str) -> str:
    """The code of `Sweden (SWE)`, `Sweden` or `swe`; what was written, where it is no country."""
    plain = text.strip()
    if plain.endswith(")") and "(" in plain:
        plain = plain[:-1].rpartition("(")[2].strip()
    return _CODES.get(plain.casefold(), plain.upper() if plain.upper() in NAMES else plain)
