// Compiles the sources with the pinned compiler and writes one artifact per contract. With --check it writes nothing,
// and fails if an artifact would change.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const here = dirname(fileURLToPath(import.meta.url));
const artifacts = join(here, "artifacts");
const contracts = [
  "AttestationRegistry",
  "LocalEndpoint",
  "Market",
  "MarketFactory",
  "MerkleDistributor",
  "RWAToken",
  "TestUSD",
];
// Replaces LayerZero's endpoint in the tests of public networks; it is not part of the product.
const standIn = "EndpointStandIn";
const tests = join(here, "..", "..", "tests", "public");
const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["abi", "userdoc", "devdoc", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
};
// The maximum size of a contract's code, in bytes (EIP-170).
const codeLimit = 24576;

function solidity(folder, prefix) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory()
        ? solidity(join(folder, entry.name), `${prefix}/${entry.name}`)
        : entry.name.endsWith(".sol")
          ? [[`${prefix}/${entry.name}`, readFileSync(join(folder, entry.name), "utf8")]]
          : [],
    );
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

const typeOf = ({ type, components }) =>
  components ? `(${components.map(typeOf).join(",")})${type.slice("tuple".length)}` : type;

// Returns the interface entries without NatSpec, except OpenZeppelin's OwnershipTransferred, which has none.
function undocumented({ abi, userdoc, devdoc }) {
  const said = (doc) => [doc].flat().some((entry) => entry?.notice ?? entry?.details);
  return abi
    .filter(({ name }) => name && name !== "OwnershipTransferred")
    .filter(({ type, name, inputs }) => {
      const kind = { function: "methods", event: "events", error: "errors" }[type];
      const signature = `${name}(${inputs.map(typeOf).join(",")})`;
      return ![userdoc, devdoc].some((docs) => said(docs[kind]?.[signature]));
    })
    .map(({ type, name }) => `${type} ${name}`);
}

const sources = solidity(join(here, "src"), "src");
// Names and texts, each followed by a NUL byte, so that the hash can be recomputed without a compiler.
const hash = createHash("sha256");
for (const [name, text] of sources) hash.update(`${name}\0${text}\0`);
const sourceHash = hash.digest("hex");

const standInSource = [`test/${standIn}.sol`, readFileSync(join(here, "test", `${standIn}.sol`), "utf8")];

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: Object.fromEntries([...sources, standInSource].map(([name, content]) => [name, { content }])),
      settings,
    }),
    {
      import: (path) => {
        const file = join(here, "node_modules", path);
        return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} not found` };
      },
    },
  ),
);
const problems = output.errors ?? [];
for (const problem of problems) console.error(problem.formattedMessage);
if (problems.length > 0) process.exit(1);

const silent = sources.flatMap(([path]) =>
  Object.entries(output.contracts[path] ?? {}).flatMap(([name, contract]) =>
    undocumented(contract).map((entry) => `${name}: ${entry} has no NatSpec`),
  ),
);
for (const line of silent) console.error(line);
if (silent.length > 0) process.exit(1);

const libraries = JSON.parse(readFileSync(join(here, "package.json"), "utf8")).devDependencies;
const files = new Map();
for (const contractName of contracts) {
  const { abi, evm } = output.contracts[`src/${contractName}.sol`][contractName];
  const size = evm.deployedBytecode.object.length / 2;
  if (size > codeLimit) {
    console.error(`${contractName} has ${size} bytes of code, ${size - codeLimit} more than allowed`);
    process.exit(1);
  }
  if (!process.argv.includes("--check")) console.log(`${contractName.padEnd(20)} ${size} bytes`);
  const artifact = {
    contractName,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    compiler: {
      solc: solc.version().split(".Emscripten")[0],
      openzeppelin: libraries["@openzeppelin/contracts"],
      evmVersion: settings.evmVersion,
      optimizerRuns: settings.optimizer.runs,
    },
    sourceHash,
  };
  files.set(`${contractName}.json`, `${JSON.stringify(sorted(artifact), null, 1)}\n`);
}

const { abi, evm } = output.contracts[standInSource[0]][standIn];
const standInFile = join(tests, `${standIn}.json`);
const standInText = `${JSON.stringify(sorted({ abi, bytecode: `0x${evm.bytecode.object}` }), null, 1)}\n`;

if (process.argv.includes("--check")) {
  const present = existsSync(artifacts) ? readdirSync(artifacts) : [];
  const stale = [...files].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(artifacts, name), "utf8") !== text,
  );
  if (!existsSync(standInFile) || readFileSync(standInFile, "utf8") !== standInText) stale.push([standIn]);
  const extra = present.filter((name) => !files.has(name));
  if (stale.length + extra.length > 0) {
    console.error(`differ from the sources: ${[...stale.map(([name]) => name), ...extra].join(", ")}`);
    process.exit(1);
  }
  console.log(`${files.size} artifacts equal the sources`);
} else {
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts);
  for (const [name, text] of files) writeFileSync(join(artifacts, name), text);
  writeFileSync(standInFile, standInText);
}
