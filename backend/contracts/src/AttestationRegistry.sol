// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

import {Countries} from "./Countries.sol";
import {Restrictions} from "./Restrictions.sol";
import {Standing} from "./interfaces/IRWAToken.sol";

/// @title AttestationRegistry
/// @notice What known attesters state about the holders of addresses: KYC level, country, accreditation.
/// @dev The owner (the operator's agent) records the parent of each organization and its attesters. Attesters write
/// attestations. Attestations are stored by subject and attester, so no attester overwrites another's attestation.
contract AttestationRegistry is Ownable {
    enum Status {
        NONE,
        VALID,
        EXPIRED,
        REVOKED,
        DISTRUSTED
    }

    struct Attester {
        bytes32 orgId;
        uint8 maxKycLevel;
        bool canRevokeOthers;
        bool active;
        string name;
    }

    struct Attestation {
        address subject;
        address attester;
        bytes32 orgId;
        uint8 level;
        bytes3 country;
        bool accredited;
        uint64 issuedAt;
        uint64 expiresAt;
        uint64 revokedAt;
        bytes32 schema;
        bytes32 dataHash;
    }

    /// @notice The maximum number of ancestors of an organization.
    uint256 public constant MAX_DEPTH = 64;

    /// @notice The maximum number of active attesters of an organization. The limit is per organization so that one
    /// tenant's attesters cannot crowd out another's.
    uint256 public constant MAX_ATTESTERS_PER_ORG = 16;

    /// @notice The parent of an organization, 0 for a root.
    mapping(bytes32 orgId => bytes32 parentOrgId) public parentOf;

    mapping(address attester => Attester) private _attesters;
    mapping(bytes32 orgId => address[]) private _attestersOf;
    mapping(bytes32 uid => Attestation) private _attestations;
    mapping(address subject => mapping(address attester => bytes32 uid)) private _current;
    uint256 private _count;

    /// @notice Emitted when an organization gets a parent; `parentOrgId` 0 makes it a root.
    event ParentSet(bytes32 indexed orgId, bytes32 indexed parentOrgId);
    /// @notice Emitted when an attester is added to an organization, or its terms there change.
    event AttesterAdded(
        address indexed attester, bytes32 indexed orgId, string name, uint8 maxKycLevel, bool canRevokeOthers
    );
    /// @notice Emitted when an attester is removed.
    event AttesterRemoved(address indexed attester, bytes32 indexed orgId);
    /// @notice Emitted when an attester attests `subject`, replacing its former attestation of it.
    event Attested(
        bytes32 indexed uid,
        address indexed subject,
        address indexed attester,
        uint8 level,
        bytes3 country,
        bool accredited,
        uint64 expiresAt,
        bytes32 schema,
        bytes32 dataHash
    );
    /// @notice Emitted when an attestation is revoked, by its attester or by one that may revoke others' attestations.
    event Revoked(bytes32 indexed uid, address indexed subject, address indexed revoker, string reason);

    /// @notice Reverts when the organization is 0.
    error InvalidOrganization(bytes32 orgId);
    /// @notice Reverts when the organization would become its own ancestor.
    error LineageCycle(bytes32 orgId, bytes32 parentOrgId);
    /// @notice Reverts when the organization would have more than MAX_DEPTH ancestors.
    error LineageTooDeep(bytes32 orgId);
    /// @notice Reverts when the attester is the zero address.
    error InvalidAttester(address attester);
    /// @notice Reverts when the attester is active for `orgId`; it must be removed there first.
    error AttesterOfAnotherOrganization(address attester, bytes32 orgId);
    /// @notice Reverts when the organization already has MAX_ATTESTERS_PER_ORG active attesters.
    error TooManyAttesters(bytes32 orgId);
    /// @notice Reverts when the account is not an active attester.
    error NotAttester(address account);
    /// @notice Reverts when the subject is the zero address.
    error InvalidSubject(address subject);
    /// @notice The level exceeds `maximum`, the highest that the attester may attest.
    error LevelAboveMaximum(uint8 level, uint8 maximum);
    /// @notice Reverts when `expiresAt` is not in the future.
    error AlreadyExpired(uint64 expiresAt);
    /// @notice Reverts when no attestation has this uid.
    error UnknownAttestation(bytes32 uid);
    /// @notice Reverts when the attestation is already revoked.
    error AlreadyRevoked(bytes32 uid);
    /// @notice Reverts when the account is not the attester and may not revoke for it.
    error NotAllowedToRevoke(address account, bytes32 uid);

    constructor(address initialOwner) Ownable(initialOwner) {}

    /// @notice Sets the parent of an organization; 0 makes it a root. Only the owner.
    function setParent(bytes32 orgId, bytes32 parentOrgId) external onlyOwner {
        if (orgId == 0) revert InvalidOrganization(orgId);
        bytes32 org = parentOrgId;
        for (uint256 depth = 0; org != 0; ++depth) {
            if (org == orgId) revert LineageCycle(orgId, parentOrgId);
            if (depth == MAX_DEPTH) revert LineageTooDeep(orgId);
            org = parentOf[org];
        }
        parentOf[orgId] = parentOrgId;
        emit ParentSet(orgId, parentOrgId);
    }

    /// @notice Adds an attester to an organization, or changes its terms there. Only the owner.
    /// @dev When an attester returns to the same organization, its unexpired attestations become valid again. When it
    /// joins another organization, they do not.
    /// @param maxKycLevel The highest level it may attest; its attestations above that level become invalid.
    /// @param canRevokeOthers Whether it may revoke attestations by attesters of its organization and its descendants.
    function addAttester(
        address attester,
        bytes32 orgId,
        string calldata name,
        uint8 maxKycLevel,
        bool canRevokeOthers
    ) external onlyOwner {
        if (attester == address(0)) revert InvalidAttester(attester);
        if (orgId == 0) revert InvalidOrganization(orgId);
        Attester storage a = _attesters[attester];
        if (a.active) {
            if (a.orgId != orgId) revert AttesterOfAnotherOrganization(attester, a.orgId);
        } else {
            if (_attestersOf[orgId].length == MAX_ATTESTERS_PER_ORG) revert TooManyAttesters(orgId);
            _attestersOf[orgId].push(attester);
        }
        _attesters[attester] = Attester(orgId, maxKycLevel, canRevokeOthers, true, name);
        emit AttesterAdded(attester, orgId, name, maxKycLevel, canRevokeOthers);
    }

    /// @notice Removes an attester; all its attestations become invalid. Only the owner.
    function removeAttester(address attester) external onlyOwner {
        Attester storage a = _attesters[attester];
        if (!a.active) revert NotAttester(attester);
        a.active = false;
        address[] storage list = _attestersOf[a.orgId];
        uint256 last = list.length - 1;
        for (uint256 i = 0; i < last; ++i) {
            if (list[i] == attester) {
                list[i] = list[last];
                break;
            }
        }
        list.pop();
        emit AttesterRemoved(attester, a.orgId);
    }

    /// @notice Attests `subject` and replaces the caller's former attestation of it. Only an attester.
    /// @param country ISO 3166-1 alpha-3, three upper case letters.
    /// @param expiresAt Unix time from which the attestation is invalid; 0 means never.
    /// @param schema The kind of check, as named by the attester.
    /// @param dataHash A commitment to the evidence, which stays off chain.
    /// @return uid The identifier of the attestation.
    function attest(
        address subject,
        uint8 level,
        bytes3 country,
        bool accredited,
        uint64 expiresAt,
        bytes32 schema,
        bytes32 dataHash
    ) external returns (bytes32 uid) {
        Attester storage a = _attesters[msg.sender];
        if (!a.active) revert NotAttester(msg.sender);
        if (subject == address(0)) revert InvalidSubject(subject);
        if (level > a.maxKycLevel) revert LevelAboveMaximum(level, a.maxKycLevel);
        if (expiresAt != 0 && expiresAt <= block.timestamp) revert AlreadyExpired(expiresAt);
        Countries.check(country);
        uid = keccak256(abi.encode(block.chainid, address(this), subject, msg.sender, ++_count));
        Attestation storage s = _attestations[uid];
        s.subject = subject;
        s.attester = msg.sender;
        s.orgId = a.orgId;
        s.level = level;
        s.country = country;
        s.accredited = accredited;
        s.issuedAt = uint64(block.timestamp);
        s.expiresAt = expiresAt;
        s.schema = schema;
        s.dataHash = dataHash;
        _current[subject][msg.sender] = uid;
        emit Attested(uid, subject, msg.sender, level, country, accredited, expiresAt, schema, dataHash);
    }

    /// @notice Revokes an attestation. Only its attester, or an active attester that may revoke others' attestations
    /// and whose organization is that of the attestation or an ancestor of it.
    function revoke(bytes32 uid, string calldata reason) external {
        Attestation storage s = _attestations[uid];
        if (s.attester == address(0)) revert UnknownAttestation(uid);
        if (s.revokedAt != 0) revert AlreadyRevoked(uid);
        if (msg.sender != s.attester) {
            Attester storage a = _attesters[msg.sender];
            if (!a.active || !a.canRevokeOthers || !isSameOrDescendant(s.orgId, a.orgId)) {
                revert NotAllowedToRevoke(msg.sender, uid);
            }
        }
        s.revokedAt = uint64(block.timestamp);
        emit Revoked(uid, s.subject, msg.sender, reason);
    }

    /// @notice Returns an attester as it was last added; `active` is false if it is unknown or removed.
    function getAttester(address attester) external view returns (Attester memory) {
        return _attesters[attester];
    }

    /// @notice Returns the active attesters of one organization, without those of its ancestors.
    function attestersOf(bytes32 orgId) external view returns (address[] memory) {
        return _attestersOf[orgId];
    }

    /// @notice Returns an attestation as it was written, valid or not; all zero if unknown.
    function getAttestation(bytes32 uid) external view returns (Attestation memory) {
        return _attestations[uid];
    }

    /// @notice Returns whether an attestation is valid: its attester's latest of the subject, not expired, not revoked,
    /// and the attester still trusted for that level and organization.
    function isValid(bytes32 uid) public view returns (bool) {
        Attestation storage s = _attestations[uid];
        return uid != 0 && _current[s.subject][s.attester] == uid && _statusOf(uid) == Status.VALID;
    }

    /// @notice Returns the status of the latest attestation of `subject` by `attester`.
    /// @return status NONE 0, VALID 1, EXPIRED 2, REVOKED 3, DISTRUSTED 4 (the attester may no longer attest this).
    /// @return uid The uid of that attestation, 0 if absent.
    function statusOf(address subject, address attester) external view returns (Status status, bytes32 uid) {
        uid = _current[subject][attester];
        status = _statusOf(uid);
    }

    /// @notice Returns whether `orgId` is `ancestor` or one of its descendants.
    function isSameOrDescendant(bytes32 orgId, bytes32 ancestor) public view returns (bool) {
        bytes32 org = orgId;
        for (uint256 depth = 0; depth <= MAX_DEPTH && org != 0; ++depth) {
            if (org == ancestor) return true;
            org = parentOf[org];
        }
        return false;
    }

    /// @notice Returns the message of a restriction code, empty if unknown. Stored here once for all tokens of the
    /// chain.
    function restrictionMessage(uint8 code) external pure returns (string memory) {
        return Restrictions.message(code);
    }

    /// @notice Combines the valid attestations of `subject` by attesters of `orgId`, of its ancestors and of
    /// `extraTrusted`.
    /// @dev Attesters may disagree, so all countries are returned for the caller to check, and the level is returned
    /// twice: a rule that requires level and accreditation must find both in one attestation.
    /// @param orgOnly Counts the attesters of `orgId` itself only.
    function eligibility(address subject, bytes32 orgId, bool orgOnly, address[] calldata extraTrusted)
        external
        view
        returns (Standing memory standing)
    {
        uint256 depths = orgOnly ? 1 : MAX_DEPTH + 1;
        standing.countries = new bytes3[](depths * MAX_ATTESTERS_PER_ORG + extraTrusted.length);
        uint256 n;
        for (uint256 depth = 0; depth < depths && orgId != 0; ++depth) {
            n = _hear(standing, n, subject, _attestersOf[orgId]);
            orgId = parentOf[orgId];
        }
        if (!orgOnly) n = _hear(standing, n, subject, extraTrusted);
        standing.found = n != 0;
        bytes3[] memory countries = standing.countries;
        // The array has the maximum length; shortening it only hides elements that were never written.
        assembly ("memory-safe") {
            mstore(countries, n)
        }
    }

    /// @dev Adds the valid attestations of `subject` by `attesters` to `standing`, which has `n` so far.
    function _hear(Standing memory standing, uint256 n, address subject, address[] memory attesters)
        private
        view
        returns (uint256)
    {
        for (uint256 i = 0; i < attesters.length; ++i) {
            bytes32 uid = _current[subject][attesters[i]];
            if (_statusOf(uid) != Status.VALID) continue;
            Attestation storage s = _attestations[uid];
            standing.countries[n++] = s.country;
            if (s.level > standing.level) standing.level = s.level;
            if (s.accredited) {
                standing.accredited = true;
                if (s.level > standing.accreditedLevel) standing.accreditedLevel = s.level;
            }
        }
        return n;
    }

    /// @dev `uid` is 0 or belongs to an attestation.
    function _statusOf(bytes32 uid) private view returns (Status) {
        if (uid == 0) return Status.NONE;
        Attestation storage s = _attestations[uid];
        if (s.revokedAt != 0) return Status.REVOKED;
        if (s.expiresAt != 0 && s.expiresAt <= block.timestamp) return Status.EXPIRED;
        Attester storage a = _attesters[s.attester];
        if (!a.active || a.orgId != s.orgId || s.level > a.maxKycLevel) return Status.DISTRUSTED;
        return Status.VALID;
    }
}
