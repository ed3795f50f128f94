// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-1404: why a transfer would be refused, as a code and in words.
interface IERC1404 {
    function detectTransferRestriction(address from, address to, uint256 value) external view returns (uint8);

    function messageForTransferRestriction(uint8 restrictionCode) external view returns (string memory);
}
