"""Wallets to attest."""

import secrets

import pytest
from eth_utils import to_checksum_address


@pytest.fixture
def wallet() -> str:
    """An address without an owner."""
    return str(to_checksum_address("0x" + secrets.token_hex(20)))
