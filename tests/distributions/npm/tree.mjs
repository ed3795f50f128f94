// Reads [[address, amount], …] from a file; writes the root, and the proofs if requested.
import { readFileSync } from "node:fs";
import { StandardMerkleTree } from "@openzeppelin/merkle-tree";

const recipients = JSON.parse(readFileSync(process.argv[2], "utf8"));
const values = recipients.map(([address, amount], index) => [String(index), address, amount]);
const began = performance.now();
const tree = StandardMerkleTree.of(values, ["uint256", "address", "uint256"]);
const seconds = (performance.now() - began) / 1000;
const proofs = process.argv[3] === "proofs" ? values.map((_, index) => tree.getProof(index)) : [];
const memory_mb = Math.round(process.memoryUsage().rss / 1e6);
console.log(JSON.stringify({ root: tree.root, seconds, memory_mb, proofs }));
