// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-7943 for fungible tokens; interface id 0x3edbb4c4.
interface IERC7943Fungible {
    /// @notice Emitted when the enforcing authority moves tokens from `from` to `to`.
    event ForcedTransfer(address indexed from, address indexed to, uint256 amount);

    /// @notice Emitted when the frozen amount of `account` becomes `amount`.
    event Frozen(address indexed account, uint256 amount);

    /// @notice Moves tokens, including frozen ones, from one account to another that may receive.
    function forcedTransfer(address from, address to, uint256 amount) external returns (bool);

    /// @notice Sets the frozen amount of an account; it may exceed the balance.
    function setFrozenTokens(address account, uint256 amount) external returns (bool);

    /// @notice Returns whether an account may send at all.
    function canSend(address account) external view returns (bool);

    /// @notice Returns whether an account may receive at all.
    function canReceive(address account) external view returns (bool);

    /// @notice Returns the frozen amount of an account.
    function getFrozenTokens(address account) external view returns (uint256);

    /// @notice Returns whether the rules allow a transfer.
    function canTransfer(address from, address to, uint256 amount) external view returns (bool);
}
