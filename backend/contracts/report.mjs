// Summarizes the findings of a tool in one line, and fails if they do not meet the requirements:
// `bun report.mjs coverage lcov.info` and `bun report.mjs slither slither.json`.
import { readFileSync, readdirSync } from "node:fs";

const leastCoverage = 98;

// Adds up an lcov file: the numbers of lines, branches and functions ("F"), and of those that tests reached ("H").
function coverage(text) {
  const total = (key) => [...text.matchAll(new RegExp(`^${key}:(\\d+)$`, "gm"))].reduce((sum, m) => sum + Number(m[1]), 0);
  const parts = { lines: "L", branches: "BR", functions: "FN" };
  const reached = Object.entries(parts).map(([name, key]) => [name, (100 * total(`${key}H`)) / total(`${key}F`)]);
  console.log(`Coverage: ${reached.map(([name, percent]) => `${percent.toFixed(1)}% of ${name}`).join(", ")}`);
  return reached.every(([, percent]) => percent >= leastCoverage);
}

// Reports the findings of Slither that no comment in the sources excuses. Only high and medium ones fail.
function slither(text) {
  const { success, error, results } = JSON.parse(text);
  if (!success) throw new Error(`Slither did not finish: ${error}`);
  const found = results.detectors ?? [];
  const count = (impact) => found.filter((finding) => finding.impact === impact).length;
  const grave = found.filter(({ impact }) => impact === "High" || impact === "Medium");
  for (const { check, impact, description } of grave) console.error(`${impact} ${check}: ${description}`);
  const sources = readdirSync("src", { recursive: true }).filter((file) => file.endsWith(".sol"));
  const excuses = sources.flatMap((file) => readFileSync(`src/${file}`, "utf8").match(/slither-disable/g) ?? []);
  const rest = `${count("Low")} low, ${count("Informational")} informational, ${excuses.length} excused in the sources`;
  console.log(`Slither: ${count("High")} high, ${count("Medium")} medium (${rest})`);
  return grave.length === 0;
}

const [kind, file] = process.argv.slice(2);
const judge = { coverage, slither }[kind];
if (!judge(readFileSync(file, "utf8"))) process.exit(1);
