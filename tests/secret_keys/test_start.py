"""Processes with the right secret key start and share wallets; others refuse, and name the variable."""

import json
import re
from collections.abc import Callable

import psycopg
import pytest

from backend.core import logins
from tests.secret_keys.processes import SECRET_KEY, Machine

OTHER_KEY = "another secret key, also of 32 characters or more"
FINGERPRINT = r"[0-9a-f]{16}"
Make = Callable[[str], Machine]


def result(process: object) -> dict[str, object]:
    """Return what a signing process has printed."""
    out, _ = process.communicate(timeout=120)  # type: ignore[attr-defined]
    return dict(json.loads(out.splitlines()[-1]))


@pytest.mark.long
def test_machines_with_their_own_data_folders_sign_with_the_same_wallets(machine: Make) -> None:
    one, other = machine("one"), machine("other")
    together = [m.sign(SIGNUM_SECRET_KEY=SECRET_KEY) for m in (one, other)]
    first, second = [result(process) for process in together]
    assert first["operator"] == second["operator"]
    every = [*first["signed"], *second["signed"], str(first["operator"])]  # type: ignore[misc]
    assert len(set(every)) == 5
    for each in (one, other):
        assert result(each.sign(*every, SIGNUM_SECRET_KEY=SECRET_KEY))["signed"] == every
        assert list(each.home.glob("*.key")) == [], "the key is in the environment only"


def test_process_with_another_secret_key_names_the_variable_and_both_fingerprints(machine: Make) -> None:
    result(machine("one").sign(SIGNUM_SECRET_KEY=SECRET_KEY))
    said = machine("two").refusal(SIGNUM_SECRET_KEY=OTHER_KEY)
    pattern = (
        f"SIGNUM_SECRET_KEY has the fingerprint ({FINGERPRINT}), but the keys in this database are encrypted under the "
        f"one with the fingerprint ({FINGERPRINT}). Start with that key in SIGNUM_SECRET_KEY or "
        "SIGNUM_SECRET_KEY_PREVIOUS."
    )
    found = re.fullmatch(pattern.replace(".", r"\.").replace(r"\\.", r"\."), said)
    assert found, said
    assert found[1] != found[2]
    assert OTHER_KEY not in said
    assert found[2] in machine("one").run("keys", "list", SIGNUM_SECRET_KEY=SECRET_KEY)[1]


@pytest.mark.long
def test_second_machine_without_the_secret_key_is_refused_and_makes_none(machine: Make) -> None:
    """The first one has made a key in its data folder, because none was set."""
    one, two = machine("one"), machine("two")
    result(one.sign())
    key = one.home / "secret.key"
    assert key.stat().st_mode & 0o777 == 0o600
    said = two.refusal()
    assert said.startswith(f"SIGNUM_SECRET_KEY is not set and {two.home / 'secret.key'} does not exist, but the keys ")
    assert list(two.home.glob("*.key")) == []
    assert len(result(two.sign(SIGNUM_SECRET_KEY_FILE=str(key)))["signed"]) == 2  # type: ignore[arg-type]


def test_short_secret_key_is_refused_by_name(machine: Make) -> None:
    assert machine("one").refusal(SIGNUM_SECRET_KEY="too short").startswith("SIGNUM_SECRET_KEY: ")


@pytest.mark.long
def test_changed_data_key_is_refused(machine: Make, url: str) -> None:
    result(machine("one").sign(SIGNUM_SECRET_KEY=SECRET_KEY))
    with psycopg.connect(logins.conninfo(url)) as connection:
        connection.execute(
            "update data_keys set wrapped = (select wrapped from data_keys where purpose = 'secrets') "
            "where purpose = 'wallets'"
        )
    said = machine("one").refusal(SIGNUM_SECRET_KEY=SECRET_KEY)
    assert said == "Version 1 of the data key for wallets was changed in the database."


@pytest.mark.long
def test_secret_key_is_replaced_while_processes_of_both_keys_sign(machine: Make) -> None:
    one, new = machine("one"), {"SIGNUM_SECRET_KEY": OTHER_KEY, "SIGNUM_SECRET_KEY_PREVIOUS": SECRET_KEY}
    wallets = result(one.sign(SIGNUM_SECRET_KEY=SECRET_KEY))["signed"]
    assert isinstance(wallets, list)
    both = [one.sign(*wallets, SIGNUM_SECRET_KEY=SECRET_KEY), machine("two").sign(*wallets, **new)]
    assert [result(process)["signed"] for process in both] == [wallets, wallets]
    code, output = one.run("keys", "rotate", "wallets", **new)
    assert (code, "Run `signum keys rotate root`" in output) == (1, True)
    assert one.run("keys", "rotate", "root", **new) == (
        0,
        "4 data keys were encrypted under the new secret key. Unset SIGNUM_SECRET_KEY_PREVIOUS.\n",
    )
    assert one.run("keys", "rotate", "root", **new)[1].startswith("0 data keys")
    assert result(machine("two").sign(*wallets, SIGNUM_SECRET_KEY=OTHER_KEY))["signed"] == wallets
    assert "SIGNUM_SECRET_KEY has the fingerprint" in one.refusal(SIGNUM_SECRET_KEY=SECRET_KEY)


@pytest.mark.long
def test_configuration_check_reports_the_fingerprint_and_a_wrong_key(machine: Make) -> None:
    one = machine("one")
    result(one.sign(SIGNUM_SECRET_KEY=SECRET_KEY))
    code, right = one.run("config", "check", "--database", SIGNUM_SECRET_KEY=SECRET_KEY)
    [fingerprint] = set(re.findall(f"SIGNUM_SECRET_KEY .*fingerprint ({FINGERPRINT})", right))
    assert code == 0
    assert fingerprint in one.run("keys", "list", SIGNUM_SECRET_KEY=SECRET_KEY)[1]
    code, wrong = one.run("config", "check", "--database", SIGNUM_SECRET_KEY=OTHER_KEY)
    assert (code, OTHER_KEY in wrong, SECRET_KEY in right) == (1, False, False)
    refusal = one.refusal(SIGNUM_SECRET_KEY=OTHER_KEY)
    assert wrong.splitlines()[-1] == refusal
    assert f"the one with the fingerprint {fingerprint}" in refusal
