"""Validation of recipients: addresses, amounts, duplicates, their sum. A million lines take a few seconds."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import BinaryIO

import numpy as np

from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import Invalid
from backend.core.fields import MAX_UINT256
from backend.distributions.keccak import Bytes, keccak256
from backend.distributions.merkle import address_bytes

MOST_FINDINGS = 100
"""Maximum number of findings in an error; the rest is counted."""
MOST_INVALID = 1_000
"""Invalid recipients after which a list is not read further; and empty lines, beyond one for each recipient."""
LONGEST_LINE = 1_000
"""Characters of a line; an address and an amount have at most 203, without spaces."""
_LINE = re.compile(r"\s*(0[xX][0-9a-fA-F]{40})\s*,\s*([0-9]{1,78})(?:\.([0-9]{0,78}))?\s*", re.ASCII)
_HEADER = re.compile(r"\s*\"?address\"?\s*,\s*\"?amount\"?\s*", re.IGNORECASE)

Finding = tuple[int, str, str]
"""Index of a recipient, the field (empty for both), and the error."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients and amounts: EIP-55 addresses and base units, in input order."""

    addresses: list[str]
    amounts: list[int]

    @property
    def total(self) -> int:
        """The sum of all amounts."""
        return sum(self.amounts)


def of_pairs(addresses: Sequence[str], amounts: Sequence[int]) -> Recipients:
    """Return recipients of a JSON body, whose addresses and amounts were validated individually. Raises Invalid."""
    return _checked(list(addresses), list(amounts), list(range(1, len(addresses) + 1)), "Entry")


def of_csv(body: bytes | BinaryIO, decimals: int = 0) -> Recipients:
    """Return the recipients of `address,amount` lines; a header and empty lines are skipped. Reads one line at a time
    and keeps at most `MOST_FINDINGS` malformed ones. Raises Invalid with the line numbers, and stops early at too many
    malformed or empty lines.

    With `decimals` the amounts are whole units with up to that many decimal places; without, base units.
    """
    file = io.BytesIO(body) if isinstance(body, bytes) else body
    text = io.TextIOWrapper(file, encoding="utf-8-sig")
    try:
        return _of_lines(_lines(text), decimals)
    except UnicodeDecodeError as error:
        raise Invalid([{"pointer": "/", "detail": "is not UTF-8 text"}]) from error
    finally:
        text.detach()  # the caller closes the file


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Return lines without their line ends; characters beyond `LONGEST_LINE` are cut off."""
    while line := text.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith("\n"):
            rest = text.readline(LONGEST_LINE)
        yield line.rstrip("\n")


def _of_lines(lines: Iterable[str], decimals: int) -> Recipients:
    addresses: list[str] = []
    amounts: list[int] = []
    numbers: list[int] = []
    skipped = _Skipped()
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line) if len(line) < LONGEST_LINE else None
        part = (found[3] or "").rstrip("0") if found else ""
        if found and len(part) <= decimals and (decimals or found[3] is None):
            addresses.append(f"0x{found[1][2:]}")
            amounts.append(int(found[2] + part.ljust(decimals, "0")))
            numbers.append(number)
        elif not (number == 1 and _HEADER.fullmatch(line)):
            skipped.add(len(addresses), number, line, decimals)
    if skipped.malformed:
        raise _invalid(skipped.findings, skipped.malformed)
    return _checked(addresses, amounts, numbers, "Line")


@dataclass(slots=True)
class _Skipped:
    """Lines without a recipient: their number, and the first ones."""

    empty: int = 0
    malformed: int = 0
    empty_findings: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Of malformed lines."""

    def add(self, index: int, number: int, line: str, decimals: int) -> None:
        """Count a line before the recipient with this index. Raises Invalid where there are too many."""
        if line.strip() or len(line) >= LONGEST_LINE:
            self.malformed += 1
            if self.malformed <= MOST_FINDINGS:
                self.findings.append((index, "", f"Line {number}: {_complaint(line, decimals)}"))
            if self.malformed > MOST_INVALID:
                raise _invalid(self.findings, self.malformed)
        else:
            self._add_empty(index, number)

    def _add_empty(self, index: int, number: int) -> None:
        self.empty += 1
        if self.empty <= MOST_FINDINGS:
            self.empty_findings.append((index, "", f"Line {number}: is empty"))
        if self.empty > MOST_INVALID + index:
            detail = f"{self.empty} of the first {number} lines are empty. Remove them."
            raise Invalid(_errors(self.empty_findings), f"{detail} The first {MOST_FINDINGS} are listed.")


def _complaint(line: str, decimals: int) -> str:
    if len(line) >= LONGEST_LINE:
        return f"has {LONGEST_LINE} characters or more; expected an address and an amount"
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != 2:
        return f"has {len(parts)} columns; expected an address and an amount"
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{40}", parts[0], re.ASCII):
        return "the address is not 0x and 40 hexadecimal digits"
    if decimals:
        return f"the amount is not a number such as 1250.5 with at most {decimals} decimal places"
    return "the amount is not a whole number of base units with 1 to 78 digits"


def _checked(addresses: list[str], amounts: list[int], numbers: Sequence[int], unit: str) -> Recipients:
    if not addresses:
        raise Invalid([{"pointer": "/recipients", "detail": "has no recipients"}])
    proper = checksummed(addresses)
    found = merge(_bad_addresses(addresses, proper), _bad_amounts(amounts), _doubles(proper, numbers, unit))
    if wrong := list(islice(found, MOST_INVALID + 1)):
        raise _invalid([(i, name, f"{unit} {numbers[i]}: {detail}") for i, name, detail in wrong])
    if sum(amounts) > MAX_UINT256:
        raise Invalid([{"pointer": "/recipients", "detail": "have a sum above the chain's maximum (2^256 - 1)"}])
    return Recipients(proper, amounts)


def _bad_addresses(given: Sequence[str], proper: Sequence[str]) -> Iterator[Finding]:
    for index, (one, right) in enumerate(zip(given, proper, strict=True)):
        if one != right and one[2:] not in (one[2:].lower(), one[2:].upper()):
            yield index, "address", "the address has a wrong EIP-55 checksum; check for a typing error"
        elif right == ZERO_ADDRESS:
            yield index, "address", "the zero address cannot be a recipient"


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
            yield index, "address", f"the address is already in {unit.lower()} {numbers[first[address]]}"
        first.setdefault(address, index)


def _invalid(findings: Sequence[Finding], count: int = 0) -> Invalid:
    """Return the error of findings in order. Beyond `MOST_INVALID` their number is unknown."""
    count = count or len(findings)
    number = f"More than {MOST_INVALID}" if count > MOST_INVALID else str(count)
    more = f" The first {MOST_FINDINGS} are listed." if count > MOST_FINDINGS else ""
    return Invalid(_errors(findings), f"{number} of the recipients are invalid.{more}")


def _errors(findings: Sequence[Finding]) -> list[dict[str, str]]:
    shown = findings[:MOST_FINDINGS]
    return [{"pointer": f"/recipients/{i}" + (f"/{name}" if name else ""), "detail": d} for i, name, d in shown]


def checksummed(addresses: Sequence[str]) -> list[str]:
    """Return addresses (0x and 40 digits) in EIP-55 format, all in one batch."""
    digits = np.frombuffer(address_bytes(addresses).tobytes().hex().encode(), np.uint8).reshape(-1, 40)
    written = _raised(digits, keccak256(digits)).tobytes().decode()
    return [f"0x{written[start : start + 40]}" for start in range(0, len(written), 40)]


def _raised(digits: Bytes, hashes: Bytes) -> Bytes:
    """Return hexadecimal digits (n, 40) with letters in upper case where the hash's digit is 8 or more."""
    halves = np.empty((len(digits), 40), dtype=np.uint8)
    halves[:, 0::2] = hashes[:, :20] >> 4
    halves[:, 1::2] = hashes[:, :20] & 15
    return np.where((halves >= 8) & (digits >= ord("a")), digits - 32, digits)
