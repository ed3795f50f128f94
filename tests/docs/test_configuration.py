"""The tables of docs/configuration.md against the settings."""

import re
from pathlib import Path

from backend.configuration.variables import names
from backend.core.setting_fields.sources import SECRETS

TEXT = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
ROW = re.compile(r"^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| [^|]", re.MULTILINE)


def test_every_variable_is_documented_and_exists() -> None:
    documented = [name for row in ROW.findall(TEXT) for name in re.findall(r"[A-Z_]+", row)]
    assert sorted(documented) == sorted(names())


def test_every_variable_that_can_be_in_a_file_is_listed() -> None:
    paragraph = TEXT.partition("**Secrets in files.**")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([A-Z_]+)`", paragraph)) >= SECRETS
