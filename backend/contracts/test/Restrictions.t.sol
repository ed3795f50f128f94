// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";

import {Restrictions} from "../src/Restrictions.sol";

contract RestrictionsTest is Test {
    function test_messages_everyCode_equalsRestrictionsJson() public view {
        string memory table = vm.readFile("restrictions.json");
        uint256 rows;
        for (string memory row = "$[0]"; vm.keyExistsJson(table, row); row = string.concat("$[", vm.toString(rows), "]")) {
            uint256 code = vm.parseJsonUint(table, string.concat(row, ".code"));
            assertEq(Restrictions.message(uint8(code)), vm.parseJsonString(table, string.concat(row, ".message")));
            ++rows;
        }
        uint256 known;
        for (uint256 code = 0; code < 256; ++code) {
            if (bytes(Restrictions.message(uint8(code))).length != 0) ++known;
        }
        assertEq(known, rows);
        assertGt(rows, 20);
    }

    function testFuzz_codes_anyBits_areListedAscending(uint256 failed) public pure {
        failed &= ~uint256(1);
        uint8[] memory codes = Restrictions.toCodes(failed);
        uint256 back;
        for (uint256 i = 0; i < codes.length; ++i) {
            if (i > 0) assertGt(codes[i], codes[i - 1]);
            back |= uint256(1) << codes[i];
        }
        assertEq(back, failed);
        assertEq(Restrictions.first(failed), codes.length == 0 ? 0 : codes[0]);
    }
}
