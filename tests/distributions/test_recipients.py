"""What is taken from a list of recipients, and what is told about the rest."""

import random
import tracemalloc

import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from backend.distributions.recipients import checksummed, of_csv, of_pairs
from backend.errors import Invalid

ONE, TWO = to_checksum_address("0x" + "ab" * 20), to_checksum_address("0x" + "cd" * 20)


def findings(body: str) -> dict[str, str]:
    with pytest.raises(Invalid) as raised:
        of_csv(body.encode())
    return {e["pointer"]: e["detail"] for e in raised.value.errors}


def details(body: str) -> list[str]:
    with pytest.raises(Invalid) as raised:
        of_csv(body.encode())
    return [e["detail"].partition(":")[0] for e in raised.value.errors]


@given(st.lists(st.binary(min_size=20, max_size=20), min_size=1, max_size=40))
def test_addresses_are_written_as_eip_55_has_them(raw: list[bytes]) -> None:
    addresses = ["0x" + r.hex() for r in raw]
    assert checksummed(addresses) == [to_checksum_address(a) for a in addresses]


def test_csv_with_header_spaces_empty_lines_and_windows_ends() -> None:
    told = of_csv(f"\ufeffAddress, Amount\r\n{ONE.lower()} , 5\r\n\r\n{TWO},{10**20}\r\n".encode())
    assert (told.addresses, told.amounts, told.total) == ([ONE, TWO], [5, 10**20], 10**20 + 5)


def test_errors_name_the_lines() -> None:
    assert details(f"address,amount\n{ONE},5\n{ONE};5\n0x12,5\n\n{TWO},-1\n") == ["Line 3", "Line 4", "Line 6"]
    assert findings("0x12,5\n") == {"/recipients/0": "Line 1: the address is not 0x and 40 hexadecimal digits"}
    words = "Line 1: the amount is not a whole number of base units, 1 to 78 digits"
    assert findings(f"{ONE},1.5\n") == {"/recipients/0": words}


def test_doubles_zeros_and_checksums() -> None:
    wrong = ONE[:2] + ONE[2:].swapcase()
    told = findings(f"address,amount\n{ONE},1\n{TWO},0\n\n{ONE.lower()},2\n{wrong},3\n0x{'0' * 40},1\n")
    assert told == {
        "/recipients/1/amount": "Line 3: the amount is 0",
        "/recipients/2/address": "Line 5: the address is in line 2 already",
        "/recipients/3/address": told["/recipients/3/address"],
        "/recipients/4/address": "Line 7: nobody has the zero address",
    }


def test_sums_and_amounts_stay_below_what_a_chain_can_hold() -> None:
    assert "sum" in findings(f"{ONE},{2**255}\n{TWO},{2**255}\n")["/recipients"]
    assert "2^256" in findings(f"{ONE},{2**256}\n")["/recipients/0/amount"]


@pytest.mark.parametrize("body", [b"", b"\n\n", b"address,amount\n"])
def test_nobody_is_not_a_list(body: bytes) -> None:
    with pytest.raises(Invalid):
        of_csv(body)


def test_other_encodings_are_refused() -> None:
    with pytest.raises(Invalid, match="schema"):
        of_csv(b"\xff\xfe\x00")


def test_only_a_hundred_findings_are_told() -> None:
    with pytest.raises(Invalid) as raised:
        of_pairs([ONE] * 300, [1] * 300)
    assert len(raised.value.errors) == 100
    assert "299 of the recipients" in raised.value.detail


def test_fifty_thousand_lines() -> None:
    rng = random.Random(3)
    lines = [f"0x{rng.randbytes(20).hex()},{n + 1}" for n in range(50_000)]
    told = of_csv("\n".join(lines).encode())
    assert (len(told.addresses), told.total) == (50_000, 50_000 * 50_001 // 2)
    assert told.addresses[-1] == to_checksum_address(lines[-1].split(",")[0])


def test_amounts_in_whole_tokens() -> None:
    """Exact to the last digit, and nothing finer than the token has."""
    told = of_csv(f"address,amount\n{ONE},12.5\n{TWO}, 7. \n".encode(), 6)
    assert told.amounts == [12_500_000, 7_000_000]
    assert of_csv(f"{ONE},0.000001000".encode(), 6).amounts == [1]
    for line, words in (("1.0000001", "at most 6 digits"), (".5", "such as 1250.5"), ("1e3", "such as 1250.5")):
        with pytest.raises(Invalid) as raised:
            of_csv(f"{ONE},{line}".encode(), 6)
        assert raised.value.errors[0]["detail"].startswith("Line 1: ")
        assert words in raised.value.errors[0]["detail"]
    with pytest.raises(Invalid):
        of_csv(f"{ONE},12.0".encode())


def test_malformed_lines_are_counted_and_only_the_first_hundred_kept() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Invalid) as raised:
            of_csv(b"x\n" * 500_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "500000 of the recipients" in raised.value.detail
    assert len(raised.value.errors) == 100
    assert peak < 2_000_000


@pytest.mark.parametrize("line", ["," * 5_000_000, f"{ONE},1" + " " * 5_000_000 + ",2", " " * 5_000_000])
def test_line_without_an_end_is_rejected_without_being_kept(line: str) -> None:
    body = f"{TWO},1\n{line}\n{ONE},2".encode()
    tracemalloc.start()
    try:
        with pytest.raises(Invalid) as raised:
            of_csv(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert raised.value.errors[0]["detail"].startswith("Line 2: has 1000 characters or more")
    assert peak < 2_000_000
