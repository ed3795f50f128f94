#!/bin/sh
# Installs what the lock file names, then without a network: compiles, runs the Solidity tests, measures their coverage and
# runs Slither. Needs `bun` and, unless only tests are asked for, `slither` on the path. What is given is passed on to
# `forge test`, and then nothing else is run; SNAPSHOTS=write renews the gas figures instead of comparing them.
set -eu
cd "$(dirname "$0")"
bun install --frozen-lockfile --ignore-scripts >/dev/null 2>&1
PATH="$PWD/$(dirname "$(echo node_modules/@foundry-rs/forge-*/bin/forge)"):$PATH"
export PATH NO_COLOR=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows what a command says only if it fails.
quietly() {
  "$@" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
}

bun compile.mjs --check
check=true
[ "${SNAPSHOTS:-}" = write ] && check=false
status=0
FORGE_SNAPSHOT_CHECK=$check forge test "$@" >"$work/tests" 2>&1 || status=$?
cat "$work/tests"
[ "$status" -eq 0 ] || exit "$status"
[ $# -eq 0 ] || exit 0

command -v slither >/dev/null || { echo "slither is not installed: use \`make contracts\`, or name the tests to run"; exit 1; }
# Coverage is counted in unoptimized code, so the gas figures mean nothing there.
quietly forge coverage --report lcov --report-file "$work/lcov" --exclude-tests --no-match-coverage node_modules \
  --no-match-contract GasTest
# Slither has forge build for it, from nothing: into a folder of its own, so that the tests need not be compiled again.
FOUNDRY_OUT="forge-cache/slither" FOUNDRY_CACHE_PATH="forge-cache/slither-cache" \
  quietly slither . --json "$work/slither" --fail-none --warn-unused-ignores
bun report.mjs coverage "$work/lcov"
grep -o '[0-9]* tests passed' "$work/tests" | tail -n 1
bun report.mjs slither "$work/slither"
