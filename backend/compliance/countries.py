"""Names of countries by their ISO 3166-1 codes of three letters."""

import pycountry

_NAMES = {country.alpha_3: str(getattr(country, "common_name", country.name)) for country in pycountry.countries}
NAMES: dict[str, str] = dict(sorted(_NAMES.items(), key=lambda pair: pair[1]))
"""Codes and names, sorted by name."""


def country_name(code: str) -> str:
    """Return a country's name, or the code itself if it is unknown."""
    return NAMES.get(code, code)
