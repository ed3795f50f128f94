// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {BitMaps} from "@openzeppelin/contracts/utils/structs/BitMaps.sol";

/// @title MerkleDistributor
/// @notice One distribution of one currency: the owner funds it with the root of all entitlements, each recipient is
/// paid once, and the owner closes it and gets back the unclaimed rest.
/// @dev A leaf is keccak256(keccak256(abi.encode(uint256 index, address account, uint256 amount))); pairs are hashed in
/// ascending order. The currency must be a plain ERC-20.
contract MerkleDistributor is Ownable {
    using SafeERC20 for IERC20;
    using BitMaps for BitMaps.BitMap;

    /// @notice The currency that is paid out.
    IERC20 public immutable token;

    /// @notice The root of the entitlements; 0 before activation.
    bytes32 public merkleRoot;

    /// @notice The number of entitlements; all indices are below it.
    uint256 public totalRecipients;

    /// @notice The amount paid out so far.
    uint256 public claimedAmount;

    /// @notice Whether the owner has closed the distribution.
    bool public closed;

    BitMaps.BitMap private _claimed;

    /// @notice Emitted when the entitlements are fixed and funded.
    event Activated(bytes32 merkleRoot, uint256 totalAmount, uint256 totalRecipients);
    /// @notice Emitted when an entitlement is paid.
    event Claimed(uint256 indexed index, address indexed account, uint256 amount);
    /// @notice Emitted when the distribution is closed; `returnedAmount` goes back to the owner.
    event Closed(uint256 returnedAmount);

    /// @notice Reverts when the currency has no code, or the root or the number of recipients is 0.
    error InvalidDistribution();
    /// @notice Reverts when the distribution was already activated.
    error AlreadyActivated();
    /// @notice Reverts when the distribution is not activated yet, or is closed.
    error NotActive();
    /// @notice Reverts when the entitlement was already paid.
    error AlreadyClaimed(uint256 index);
    /// @notice Reverts when the entitlement is not part of the root.
    error InvalidProof(uint256 index, address account, uint256 amount);
    /// @notice Reverts when less than the total is received.
    error Underfunded(uint256 expected, uint256 received);

    /// @param owner_ The organization's wallet.
    /// @param token_ The currency to pay out.
    constructor(address owner_, IERC20 token_) Ownable(owner_) {
        if (address(token_).code.length == 0) revert InvalidDistribution();
        token = token_;
    }

    /// @notice Fixes the entitlements and takes their total from the owner's allowance. Only the owner, once. With a
    /// total of 0 it takes nothing, and the entitlements are paid from separate transfers to this contract.
    function activate(bytes32 root, uint256 totalAmount, uint256 recipients) external onlyOwner {
        if (merkleRoot != 0) revert AlreadyActivated();
        if (root == 0 || recipients == 0) revert InvalidDistribution();
        merkleRoot = root;
        totalRecipients = recipients;
        if (totalAmount != 0) _take(totalAmount);
        emit Activated(root, totalAmount, recipients);
    }

    /// @notice Pays an entitlement to its account. Anyone may call it; only that account is paid.
    function claim(uint256 index, address account, uint256 amount, bytes32[] calldata proof) external {
        if (merkleRoot == 0 || closed) revert NotActive();
        if (_claimed.get(index)) revert AlreadyClaimed(index);
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(index, account, amount))));
        if (index >= totalRecipients || !MerkleProof.verifyCalldata(proof, merkleRoot, leaf)) {
            revert InvalidProof(index, account, amount);
        }
        _claimed.set(index);
        claimedAmount += amount;
        token.safeTransfer(account, amount);
        emit Claimed(index, account, amount);
    }

    /// @notice Returns whether an entitlement was paid.
    function isClaimed(uint256 index) external view returns (bool) {
        return _claimed.get(index);
    }

    /// @notice Closes the distribution and returns the rest to the owner. Only the owner, once.
    function close() external onlyOwner {
        if (merkleRoot == 0 || closed) revert NotActive();
        closed = true;
        uint256 rest = token.balanceOf(address(this));
        token.safeTransfer(msg.sender, rest);
        emit Closed(rest);
    }

    /// @dev A currency that takes a fee on transfer would leave too little for the last recipients.
    function _take(uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != amount) revert Underfunded(amount, received);
    }
}
