// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-1404: why a transfer would be rejected, as a code and a message.
interface IERC1404 {
    /// @notice Returns the code of the first rule that a transfer would break, 0 if it would pass.
    function detectTransferRestriction(address from, address to, uint256 value) external view returns (uint8);

    /// @notice Returns the message of a code, empty if unknown.
    function messageForTransferRestriction(uint8 restrictionCode) external view returns (string memory);
}
