// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ExecutorConfig, UlnConfig} from "./interfaces/IMessaging.sol";

/// @notice Resolves the settings of a message library: the written values, with defaults for the missing ones.
/// @dev Follows the public behavior of the libraries; used by the endpoints that replace the genuine one.
library MessagingConfig {
    uint32 internal constant EXECUTOR = 1;
    uint32 internal constant ULN = 2;
    uint8 internal constant NIL = type(uint8).max;

    /// @dev Returns the effective setting.
    function resolved(uint32 configType, bytes memory written, bytes memory defaults)
        internal
        pure
        returns (bytes memory)
    {
        if (written.length == 0) return defaults;
        return configType == EXECUTOR ? _executor(written, defaults) : _uln(written, defaults);
    }

    function _executor(bytes memory written, bytes memory defaults) private pure returns (bytes memory) {
        ExecutorConfig memory held = abi.decode(written, (ExecutorConfig));
        ExecutorConfig memory other = abi.decode(defaults, (ExecutorConfig));
        if (held.maxMessageSize == 0) held.maxMessageSize = other.maxMessageSize;
        if (held.executor == address(0)) held.executor = other.executor;
        return abi.encode(held);
    }

    function _uln(bytes memory written, bytes memory defaults) private pure returns (bytes memory) {
        UlnConfig memory held = abi.decode(written, (UlnConfig));
        UlnConfig memory other = abi.decode(defaults, (UlnConfig));
        if (held.confirmations == 0) held.confirmations = other.confirmations;
        if (held.requiredDVNCount == 0) {
            (held.requiredDVNCount, held.requiredDVNs) = (other.requiredDVNCount, other.requiredDVNs);
        } else if (held.requiredDVNCount == NIL) {
            held.requiredDVNCount = 0;
        }
        if (held.optionalDVNCount == 0) {
            (held.optionalDVNCount, held.optionalDVNs) = (other.optionalDVNCount, other.optionalDVNs);
            held.optionalDVNThreshold = other.optionalDVNThreshold;
        } else if (held.optionalDVNCount == NIL) {
            held.optionalDVNCount = 0;
        }
        return abi.encode(held);
    }
}
