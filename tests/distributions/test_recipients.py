"""Accepted lines of a list of recipients, and the report on rejected ones."""

import random
import tracemalloc
from io import BytesIO

import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import Invalid
from backend.distributions.recipients import checksummed, of_csv, of_pairs

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
def test_recipient_addresses_are_checksummed(raw: list[bytes]) -> None:
    addresses = ["0x" + r.hex() for r in raw]
    assert checksummed(addresses) == [to_checksum_address(a) for a in addresses]


def test_csv_accepts_header_spaces_empty_lines_and_crlf() -> None:
    answer = of_csv(f"\ufeffAddress, Amount\r\n{ONE.lower()} , 5\r\n\r\n{TWO},{10**20}\r\n".encode())
    assert (answer.addresses, answer.amounts, answer.total) == ([ONE, TWO], [5, 10**20], 10**20 + 5)


def test_csv_errors_name_their_lines() -> None:
    assert details(f"address,amount\n{ONE},5\n{ONE};5\n0x12,5\n\n{TWO},-1\n") == ["Line 3", "Line 4", "Line 6"]
    assert findings("0x12,5\n") == {"/recipients/0": "Line 1: the address is not 0x and 40 hexadecimal digits"}
    words = "Line 1: the amount is not a whole number of base units with 1 to 78 digits"
    assert findings(f"{ONE},1.5\n") == {"/recipients/0": words}


def test_duplicates_zeros_and_wrong_checksums_are_rejected() -> None:
    wrong = ONE[:2] + ONE[2:].swapcase()
    answer = findings(f"address,amount\n{ONE},1\n{TWO},0\n\n{ONE.lower()},2\n{wrong},3\n0x{'0' * 40},1\n")
    assert answer == {
        "/recipients/1/amount": "Line 3: the amount is 0",
        "/recipients/2/address": "Line 5: the address is already in line 2",
        "/recipients/3/address": answer["/recipients/3/address"],
        "/recipients/4/address": "Line 7: the zero address cannot be a recipient",
    }


def test_recipient_amounts_and_their_sum_fit_a_uint256() -> None:
    assert "sum" in findings(f"{ONE},{2**255}\n{TWO},{2**255}\n")["/recipients"]
    assert "2^256" in findings(f"{ONE},{2**256}\n")["/recipients/0/amount"]


@pytest.mark.parametrize("body", [b"", b"\n\n", b"address,amount\n"])
def test_csv_without_recipients_is_rejected(body: bytes) -> None:
    with pytest.raises(Invalid):
        of_csv(body)


def test_csv_in_other_encodings_is_rejected() -> None:
    with pytest.raises(Invalid, match="schema"):
        of_csv(b"\xff\xfe\x00")


def test_recipient_errors_are_limited_to_a_hundred() -> None:
    with pytest.raises(Invalid) as raised:
        of_pairs([ONE] * 300, [1] * 300)
    assert len(raised.value.errors) == 100
    assert "299 of the recipients" in raised.value.detail


def test_csv_of_fifty_thousand_lines_is_accepted() -> None:
    rng = random.Random(3)
    lines = [f"0x{rng.randbytes(20).hex()},{n + 1}" for n in range(50_000)]
    answer = of_csv("\n".join(lines).encode())
    assert (len(answer.addresses), answer.total) == (50_000, 50_000 * 50_001 // 2)
    assert answer.addresses[-1] == to_checksum_address(lines[-1].split(",")[0])


def test_amounts_in_whole_tokens_are_parsed() -> None:
    """Exact to the last digit, and no finer than the token's decimals."""
    answer = of_csv(f"address,amount\n{ONE},12.5\n{TWO}, 7. \n".encode(), 6)
    assert answer.amounts == [12_500_000, 7_000_000]
    assert of_csv(f"{ONE},0.000001000".encode(), 6).amounts == [1]
    for line, words in (("1.0000001", "at most 6 decimal places"), (".5", "such as 1250.5"), ("1e3", "such as 1250.5")):
        with pytest.raises(Invalid) as raised:
            of_csv(f"{ONE},{line}".encode(), 6)
        assert raised.value.errors[0]["detail"].startswith("Line 1: ")
        assert words in raised.value.errors[0]["detail"]
    with pytest.raises(Invalid):
        of_csv(f"{ONE},12.0".encode())


def test_thousand_malformed_lines_are_counted_and_the_first_hundred_are_reported() -> None:
    with pytest.raises(Invalid) as raised:
        of_csv(b"x\n" * 1_000)
    assert raised.value.detail == "1000 of the recipients are invalid. The first 100 are listed."
    assert [e["detail"].partition(":")[0] for e in raised.value.errors] == [f"Line {n}" for n in range(1, 101)]


@pytest.mark.parametrize("line", [b"x\n", b"\n", b"\r", b"\r\n", b" \t\n", b",\n"])
def test_list_of_malformed_or_empty_lines_is_not_read_to_its_end(line: bytes) -> None:
    body = BytesIO(line * 500_000)
    tracemalloc.start()
    try:
        with pytest.raises(Invalid) as raised:
            of_csv(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert body.tell() < 20_000
    assert [e["detail"].partition(":")[0] for e in raised.value.errors] == [f"Line {n}" for n in range(1, 101)]
    assert peak < 2_000_000


def test_list_of_empty_lines_names_its_lines() -> None:
    with pytest.raises(Invalid) as raised:
        of_csv(f"{ONE},1\n".encode() + b"\n" * 500_000)
    assert raised.value.detail == "1002 of the first 1003 lines are empty. Remove them. The first 100 are listed."
    assert raised.value.errors[0] == {"pointer": "/recipients/1", "detail": "Line 2: is empty"}


def test_empty_line_after_every_recipient_is_accepted() -> None:
    lines = [f"0x{n:040x},{n}\r\r\n" for n in range(1, 3_000)]
    assert len(of_csv(("address,amount\r\r\n" + "".join(lines)).encode()).amounts) == 2_999


def test_findings_beyond_a_thousand_are_not_collected() -> None:
    """A list of one address with the amount 0 has two findings for each line."""
    body = f"{ONE.lower()},0\n".encode() * 20_000
    with pytest.raises(Invalid) as raised:
        of_csv(body)
    assert raised.value.detail == "More than 1000 of the recipients are invalid. The first 100 are listed."
    assert [e["detail"] for e in raised.value.errors[:3]] == [
        "Line 1: the amount is 0",
        "Line 2: the address is already in line 1",
        "Line 2: the amount is 0",
    ]


@pytest.mark.parametrize("line", ["," * 5_000_000, f"{ONE},1" + " " * 5_000_000 + ",2", " " * 5_000_000])
def test_overlong_line_is_rejected_without_being_stored(line: str) -> None:
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
