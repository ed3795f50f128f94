// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-1404: why a transfer would be refused, as a code and in words.
interface IERC1404 {
    /// @notice The code of the first rule that a transfer would break, 0 if it would pass.
    function detectTransferRestriction(address from, address to, uint256 value) external view returns (uint8);

    /// @notice A code in words, empty when unknown.
    function messageForTransferRestriction(uint8 restrictionCode) external view returns (string memory);
}
