"""Recipients as they are sent, checked: addresses, amounts, doubles, their sum. A million lines in a few seconds."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from backend.distributions.keccak import Bytes, keccak256
from backend.distributions.merkle import address_bytes
from backend.errors import Invalid
from backend.fields import MAX_UINT256

MOST_FINDINGS = 100
"""Findings told at once; the rest is counted."""
LONGEST_LINE = 1_000
"""Characters of a line; an address and an amount have at most 203, beside spaces."""
_LINE = re.compile(r"\s*(0[xX][0-9a-fA-F]{40})\s*,\s*([0-9]{1,78})(?:\.([0-9]{0,78}))?\s*", re.ASCII)
_HEADER = re.compile(r"\s*\"?address\"?\s*,\s*\"?amount\"?\s*", re.IGNORECASE)

Finding = tuple[int, str, str]
"""Index of a recipient, the field (empty for both), what is wrong."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who gets how much: EIP-55 addresses and base units, in the order they came."""

    addresses: list[str]
    amounts: list[int]

    @property
    def total(self) -> int:
        """Their sum."""
        return sum(self.amounts)


def of_pairs(addresses: Sequence[str], amounts: Sequence[int]) -> Recipients:
    """Recipients of a JSON body, whose addresses and amounts were checked one by one. Raises Invalid."""
    return _checked(list(addresses), list(amounts), list(range(1, len(addresses) + 1)), "Entry")


def of_csv(body: bytes | BinaryIO, decimals: int = 0) -> Recipients:
    """Return the recipients of `address,amount` lines; a header and empty lines are left out. Reads one line at a time
    and keeps at most `MOST_FINDINGS` of the malformed ones. Raises Invalid with the line numbers.

    With `decimals` the amounts are whole units with as many digits after the point; without, base units.
    """
    file = io.BytesIO(body) if isinstance(body, bytes) else body
    text = io.TextIOWrapper(file, encoding="utf-8-sig")
    try:
        return _of_lines(_lines(text), decimals)
    except UnicodeDecodeError as error:
        raise Invalid([{"pointer": "/", "detail": "is not UTF-8 text"}]) from error
    finally:
        text.detach()  # the file stays its owner's


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines without their ends; what a line has beyond `LONGEST_LINE` characters is left out."""
    while line := text.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith("\n"):
            rest = text.readline(LONGEST_LINE)
        yield line.rstrip("\n")


def _of_lines(lines: Iterable[str], decimals: int) -> Recipients:
    addresses: list[str] = []
    amounts: list[int] = []
    numbers: list[int] = []
    findings: list[Finding] = []
    malformed = 0
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line) if len(line) < LONGEST_LINE else None
        part = (found[3] or "").rstrip("0") if found else ""
        if found and len(part) <= decimals and (decimals or found[3] is None):
            addresses.append(f"0x{found[1][2:]}")
            amounts.append(int(found[2] + part.ljust(decimals, "0")))
            numbers.append(number)
        elif (line.strip() or len(line) >= LONGEST_LINE) and not (number == 1 and _HEADER.fullmatch(line)):
            malformed += 1
            if malformed <= MOST_FINDINGS:
                findings.append((len(addresses), "", f"Line {number}: {_complaint(line, decimals)}"))
    if findings:
        raise _invalid(findings, malformed)
    return _checked(addresses, amounts, numbers, "Line")


def _complaint(line: str, decimals: int) -> str:
    if len(line) >= LONGEST_LINE:
        return f"has {LONGEST_LINE} characters or more; it takes an address and an amount"
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != 2:
        return f"has {len(parts)} columns; it takes an address and an amount"
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{40}", parts[0], re.ASCII):
        return "the address is not 0x and 40 hexadecimal digits"
    if decimals:
        return f"the amount is not a number such as 1250.5, with at most {decimals} digits after the point"
    return "the amount is not a whole number of base units, 1 to 78 digits"


def _checked(addresses: list[str], amounts: list[int], numbers: Sequence[int], unit: str) -> Recipients:
    if not addresses:
        raise Invalid([{"pointer": "/recipients", "detail": "has no recipients"}])
    proper = checksummed(addresses)
    wrong = [*_bad_addresses(addresses, proper), *_bad_amounts(amounts), *_doubles(proper, numbers, unit)]
    if wrong:
        raise _invalid([(i, field, f"{unit} {numbers[i]}: {detail}") for i, field, detail in wrong])
    if sum(amounts) > MAX_UINT256:
        raise Invalid([{"pointer": "/recipients", "detail": "have a sum larger than a chain can hold (2^256 - 1)"}])
    return Recipients(proper, amounts)


def _bad_addresses(given: Sequence[str], proper: Sequence[str]) -> Iterator[Finding]:
    for index, (one, right) in enumerate(zip(given, proper, strict=True)):
        if one != right and one[2:] not in (one[2:].lower(), one[2:].upper()):
            yield index, "address", "the address has a wrong EIP-55 checksum; check for a typing error"
        elif right == "0x" + "0" * 40:
            yield index, "address", "nobody has the zero address"


def _bad_amounts(amounts: Sequence[int]) -> Iterator[Finding]:
    for index, amount in enumerate(amounts):
        if not 0 < amount <= MAX_UINT256:
            yield index, "amount", "the amount is 0" if amount == 0 else "the amount is above 2^256 - 1"


def _doubles(addresses: Sequence[str], numbers: Sequence[int], unit: str) -> Iterator[Finding]:
    if len(set(addresses)) == len(addresses):
        return
    first: dict[str, int] = {}
    for index, address in enumerate(addresses):
        if address in first:
            yield index, "address", f"the address is in {unit.lower()} {numbers[first[address]]} already"
        first.setdefault(address, index)


def _invalid(findings: Sequence[Finding], count: int = 0) -> Invalid:
    count = count or len(findings)
    told = sorted(findings)[:MOST_FINDINGS]
    errors = [{"pointer": f"/recipients/{i}" + (f"/{field}" if field else ""), "detail": d} for i, field, d in told]
    more = f" The first {MOST_FINDINGS} are listed." if count > MOST_FINDINGS else ""
    return Invalid(errors, f"{count} of the recipients cannot be taken.{more}")


def checksummed(addresses: Sequence[str]) -> list[str]:
    """Addresses (0x and 40 digits) as EIP-55 writes them, all at once."""
    digits = np.frombuffer(address_bytes(addresses).tobytes().hex().encode(), np.uint8).reshape(-1, 40)
    written = _raised(digits, keccak256(digits)).tobytes().decode()
    return [f"0x{written[start : start + 40]}" for start in range(0, len(written), 40)]


def _raised(digits: Bytes, hashes: Bytes) -> Bytes:
    """Hexadecimal digits (n, 40) with the letters in upper case where the hash's digit is 8 or more."""
    halves = np.empty((len(digits), 40), dtype=np.uint8)
    halves[:, 0::2] = hashes[:, :20] >> 4
    halves[:, 1::2] = hashes[:, :20] & 15
    return np.where((halves >= 8) & (digits >= ord("a")), digits - 32, digits)
