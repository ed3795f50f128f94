// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title TestUSD
/// @notice Test money for local chains: six decimals, no value, no backing.
contract TestUSD is ERC20, Ownable {
    /// @notice The amount that one faucet call mints.
    uint256 public constant FAUCET_AMOUNT = 10_000e6;

    constructor(address initialOwner) ERC20("Test USD", "tUSD") Ownable(initialOwner) {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Mints any amount. Only the owner.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Mints 10,000 to the caller. Anyone, any number of times.
    function faucet() external {
        _mint(msg.sender, FAUCET_AMOUNT);
    }
}
