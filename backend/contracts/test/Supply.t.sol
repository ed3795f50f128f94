// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {AttestationRegistry} from "../src/AttestationRegistry.sol";
import {LocalEndpoint} from "../src/LocalEndpoint.sol";
import {RWAToken} from "../src/RWAToken.sol";
import {MessagingFee, Origin} from "../src/interfaces/IMessaging.sol";
import {SendParam} from "../src/interfaces/IOFT.sol";
import {Rules} from "../src/interfaces/IRWAToken.sol";

/// @dev Three chains with tokens of 18, 8 and 6 decimals, and everything that can happen between them: late,
/// out-of-order, rejected and repeated deliveries.
contract Network is Test {
    bytes32 constant ORG = bytes32("org");

    struct Packet {
        uint256 chain;
        Origin origin;
        bytes32 guid;
        bytes message;
        uint64 shared;
        bool delivered;
    }

    address immutable issuer = makeAddr("issuer");
    address immutable treasury = makeAddr("treasury");
    address immutable attester = makeAddr("attester");
    uint8[3] decimals = [18, 8, 6];
    address[] public people;
    AttestationRegistry[3] public registries;
    LocalEndpoint[3] public endpoints;
    RWAToken[3] public tokens;
    Packet[] packets;

    /// In base units of 18 decimals.
    uint256 public minted;
    uint256 public burnt;
    bool public deliveredTwice;
    uint256 public refused;

    constructor() {
        people = [makeAddr("alice"), makeAddr("bob"), makeAddr("carol"), treasury];
        for (uint256 i = 0; i < 3; ++i) {
            registries[i] = new AttestationRegistry(address(this));
            registries[i].addAttester(attester, ORG, "attester", 5, false);
            endpoints[i] = new LocalEndpoint(uint32(i + 1), address(this));
            tokens[i] = new RWAToken("A", "A", decimals[i], ORG, registries[i], endpoints[i], issuer, treasury);
            Rules memory r;
            r.maxHolders = 2;
            vm.prank(issuer);
            tokens[i].setRules(r);
        }
        for (uint256 i = 0; i < 9; ++i) {
            if (i / 3 == i % 3) continue;
            vm.prank(issuer);
            tokens[i / 3].setPeer(uint32(i % 3 + 1), bytes32(uint256(uint160(address(tokens[i % 3])))));
        }
    }

    function attest(uint256 chain, uint256 who, bool revoked) external {
        chain %= 3;
        vm.prank(attester);
        bytes32 uid = registries[chain].attest(pick(who), 1, "DEU", false, 0, "", "");
        if (!revoked) return;
        vm.prank(attester);
        registries[chain].revoke(uid, "");
    }

    function mint(uint256 chain, uint256 to, uint256 amount) external {
        chain %= 3;
        amount = bound(amount, 0, 1000 * 10 ** decimals[chain]);
        vm.prank(issuer);
        tokens[chain].mint(pick(to), amount);
        minted += amount * 10 ** (18 - decimals[chain]);
    }

    function burn(uint256 chain, uint256 from, uint256 amount) external {
        chain %= 3;
        amount = bound(amount, 0, tokens[chain].balanceOf(pick(from)));
        vm.prank(pick(from));
        tokens[chain].burn(amount);
        burnt += amount * 10 ** (18 - decimals[chain]);
    }

    function transfer(uint256 chain, uint256 from, uint256 to, uint256 amount) external {
        RWAToken token = tokens[chain % 3];
        amount = bound(amount, 0, token.balanceOf(pick(from)));
        vm.prank(pick(from));
        token.transfer(pick(to), amount);
    }

    function send(uint256 source, uint256 target, uint256 from, uint256 to, uint256 amount) external {
        (source, target) = (source % 3, target % 3);
        SendParam memory p;
        p.dstEid = uint32(target + 1);
        p.to = bytes32(uint256(uint160(pick(to))));
        p.amountLD = bound(amount, 0, tokens[source].balanceOf(pick(from)));
        vm.recordLogs();
        vm.prank(pick(from));
        tokens[source].send(p, MessagingFee(0, 0), pick(from));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != LocalEndpoint.PacketSent.selector) continue;
            (bytes memory packet,,) = abi.decode(logs[i].data, (bytes, bytes, address));
            this.keep(target, packet);
        }
    }

    function keep(uint256 target, bytes calldata packet) external {
        require(msg.sender == address(this));
        Packet storage p = packets.push();
        p.chain = target;
        p.origin = Origin(uint32(bytes4(packet[9:13])), bytes32(packet[13:45]), uint64(bytes8(packet[1:9])));
        p.guid = bytes32(packet[81:113]);
        p.message = packet[113:];
        p.shared = uint64(bytes8(packet[145:153]));
        endpoints[target].verify(p.origin, address(tokens[target]), keccak256(packet[81:]));
    }

    /// @dev Delivers any packet sent so far, even a delivered one.
    function deliver(uint256 seed) external {
        if (packets.length == 0) return;
        Packet storage p = packets[seed % packets.length];
        try endpoints[p.chain].lzReceive(p.origin, address(tokens[p.chain]), p.guid, p.message, "") {
            if (p.delivered) deliveredTwice = true;
            p.delivered = true;
        } catch {
            ++refused;
        }
    }

    function pick(uint256 seed) public view returns (address) {
        return people[seed % people.length];
    }

    /// @dev Returns the amount that left one chain and has not arrived on the other, in base units of 18 decimals.
    function underway() external view returns (uint256 sum) {
        for (uint256 i = 0; i < packets.length; ++i) {
            if (!packets[i].delivered) sum += uint256(packets[i].shared) * 1e12;
        }
    }

    function supply() external view returns (uint256 sum) {
        for (uint256 i = 0; i < 3; ++i) {
            sum += tokens[i].totalSupply() * 10 ** (18 - decimals[i]);
        }
    }
}

contract SupplyTest is Test {
    Network network;

    function setUp() public {
        vm.warp(1_800_000_000);
        network = new Network();
        for (uint256 i = 0; i < 9; ++i) {
            network.attest(i / 3, i % 3, false);
        }
        targetContract(address(network));
        bytes4[] memory excluded = new bytes4[](1);
        excluded[0] = Network.keep.selector;
        excludeSelector(FuzzSelector(address(network), excluded));
    }

    /// @dev To the last base unit: the supply on all chains and in transit is what was minted and not burned.
    function invariant_supplyAcrossChains() public view {
        assertEq(network.supply() + network.underway(), network.minted() - network.burnt());
        assertFalse(network.deliveredTwice());
    }

    /// @dev Each chain counts its own holders, and a delivery cannot exceed its limit.
    function invariant_holdersOfEachChain() public view {
        for (uint256 chain = 0; chain < 3; ++chain) {
            RWAToken token = network.tokens(chain);
            uint256 census;
            for (uint256 i = 0; i < 3; ++i) {
                if (token.balanceOf(network.people(i)) != 0) ++census;
            }
            assertEq(token.holderCount(), census);
            assertLe(census, 2);
        }
    }
}
