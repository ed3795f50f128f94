// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title TestUSD
/// @notice Play money for local chains: six decimals, no value, no backing.
contract TestUSD is ERC20, Ownable {
    /// @notice What one call of the faucet gives.
    uint256 public constant FAUCET_AMOUNT = 10_000e6;

    constructor(address initialOwner) ERC20("Test USD", "tUSD") Ownable(initialOwner) {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Creates any amount. Only the owner.
    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    /// @notice Gives the caller 10,000. Anyone, any number of times.
    function faucet() external {
        _mint(msg.sender, FAUCET_AMOUNT);
    }
}
