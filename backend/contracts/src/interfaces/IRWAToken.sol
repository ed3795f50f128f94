// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice The compliance rules of a token.
struct Rules {
    /// 0 none, 1 reg_d, 2 reg_s, 3 reg_a_plus, 4 reg_cf. A record only: its requirements must be set in the other
    /// fields.
    uint8 regulation;
    /// The minimum level of an attestation of a receiver.
    uint8 minKycLevel;
    /// A receiver needs one attestation that both has `minKycLevel` and is accredited.
    bool requiresAccreditation;
    /// A receiver needs an attestation by an attester of the token's own organization.
    bool orgOnly;
    /// ISO 3166-1 alpha-3, upper case; one valid attestation with one of these countries blocks.
    bytes3[] blockedCountries;
    /// Unix time before which only the treasury may send; 0 means no lockup.
    uint64 lockupEnd;
    /// Maximum beneficial owners on this chain; 0 means no limit.
    uint32 maxHolders;
    /// Maximum base units of one beneficial owner on this chain; 0 means no limit.
    uint256 maxPerHolder;
    /// Attesters trusted in addition to those of the organization and its ancestors.
    address[] trustedIssuers;
}

/// @notice The combined attestations of an account that are valid and that a token trusts.
struct Standing {
    /// Whether there is at least one.
    bool found;
    /// The highest level.
    uint8 level;
    /// Whether one of them is accredited.
    bool accredited;
    /// The highest level among the accredited ones.
    uint8 accreditedLevel;
    /// The country of each.
    bytes3[] countries;
}

/// @notice The functions of a token that a market calls.
interface IRWAToken {
    /// @notice Returns the organization's wallet, which holds every authority over the token.
    function owner() external view returns (address);

    /// @notice Returns the issuer's own account.
    function treasury() external view returns (address);

    /// @notice Returns the decimals of an amount, 6 to 18.
    function decimals() external view returns (uint8);

    /// @notice Returns the number of beneficial owners on this chain, without the treasury.
    function holderCount() external view returns (uint256);

    /// @notice Returns what an account owns beneficially: its balance and its escrow at venues.
    function holdingOf(address account) external view returns (uint256);

    /// @notice Returns the combined trusted attestations of an account.
    function standingOf(address account) external view returns (Standing memory);

    /// @notice Returns every rule that a transfer would break, as ascending codes; `from` 0 checks a mint.
    function checkTransfer(address from, address to, uint256 amount) external view returns (uint8[] memory);

    /// @notice Returns every rule that a settlement from the escrow of `venue` would break, as ascending codes.
    function checkSettlement(address venue, address seller, address buyer, uint256 amount)
        external
        view
        returns (uint8[] memory);

    /// @notice Moves tokens of `account` into the calling venue's escrow, using its allowance.
    function depositEscrow(address account, uint256 amount) external;

    /// @notice Returns escrow of the calling venue to its account.
    function releaseEscrow(address account, uint256 amount) external;

    /// @notice Moves escrow of `seller` at the calling venue to `buyer`.
    function settleEscrow(address seller, address buyer, uint256 amount) external;
}
