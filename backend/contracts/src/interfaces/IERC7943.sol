// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice ERC-7943 for fungible tokens; interface id 0x3edbb4c4.
interface IERC7943Fungible {
    /// @notice Tokens were taken from `from` and given to `to` by the enforcing authority.
    event ForcedTransfer(address indexed from, address indexed to, uint256 amount);

    /// @notice The frozen amount of `account` is now `amount`.
    event Frozen(address indexed account, uint256 amount);

    function forcedTransfer(address from, address to, uint256 amount) external returns (bool);

    function setFrozenTokens(address account, uint256 amount) external returns (bool);

    function canSend(address account) external view returns (bool);

    function canReceive(address account) external view returns (bool);

    function getFrozenTokens(address account) external view returns (uint256);

    function canTransfer(address from, address to, uint256 amount) external view returns (bool);
}
