"""Wallets of people to be attested."""

import secrets

import pytest
from eth_utils import to_checksum_address


@pytest.fixture
def wallet() -> str:
    """An address nobody has."""
    return str(to_checksum_address("0x" + secrets.token_hex(20)))
