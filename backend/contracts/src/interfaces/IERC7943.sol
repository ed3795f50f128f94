// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-7943 for fungible tokens; interface id 0x3edbb4c4.
interface IERC7943Fungible {
    /// @notice Tokens were taken from `from` and given to `to` by the enforcing authority.
    event ForcedTransfer(address indexed from, address indexed to, uint256 amount);

    /// @notice The frozen amount of `account` is now `amount`.
    event Frozen(address indexed account, uint256 amount);

    /// @notice Takes tokens, frozen ones too, from one account and gives them to another that may receive.
    function forcedTransfer(address from, address to, uint256 amount) external returns (bool);

    /// @notice Sets how many tokens of an account may not be moved; it may be more than it holds.
    function setFrozenTokens(address account, uint256 amount) external returns (bool);

    /// @notice Whether an account may send at all.
    function canSend(address account) external view returns (bool);

    /// @notice Whether an account may receive at all.
    function canReceive(address account) external view returns (bool);

    /// @notice How many tokens of an account may not be moved.
    function getFrozenTokens(address account) external view returns (uint256);

    /// @notice Whether the rules let a transfer pass.
    function canTransfer(address from, address to, uint256 amount) external view returns (bool);
}
