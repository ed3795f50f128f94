"""EVM addresses: the zero address, and the validation of addresses that an operator configures."""

ZERO_ADDRESS = "0x" + "0" * 40
"""The sender of a mint, and the receiver of a burn."""


def checksummed(given: str, whose: str) -> str:
    """Return an EVM address with its EIP-55 checksum.

    Raises ValueError where the address is malformed, zero, or has a wrong checksum. `whose` begins the message.
    """
    from eth_utils.address import is_checksum_address, is_hex_address, to_checksum_address

    if not given.startswith("0x") or not is_hex_address(given) or not int(given, 16):
        raise ValueError(f"{whose} is not an EVM address: 0x and 40 hexadecimal digits, not all of them 0")
    if given not in (given.lower(), "0x" + given[2:].upper()) and not is_checksum_address(given):
        raise ValueError(f"{whose} has a wrong checksum; check that it is complete")
    return str(to_checksum_address(given))
