"""Addresses that an operator sets."""


def checksummed(given: str, whose: str) -> str:
    """Return an EVM address as EIP-55 writes it. `whose` begins the message of the ValueError where the address is
    malformed, zero, or has a wrong checksum."""
    from eth_utils.address import is_checksum_address, is_hex_address, to_checksum_address

    if not given.startswith("0x") or not is_hex_address(given) or not int(given, 16):
        raise ValueError(f"{whose} is no address: 0x and 40 hexadecimal digits, not all of them 0")
    if given not in (given.lower(), "0x" + given[2:].upper()) and not is_checksum_address(given):
        raise ValueError(f"{whose} has a wrong checksum; is it copied whole?")
    return str(to_checksum_address(given))
