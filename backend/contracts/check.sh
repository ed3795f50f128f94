#!/bin/sh
# The tests, how much of the contracts they reach, and Slither; ends with the figures. No network is used beyond what
# test.sh installs. Needs `bun` and `slither` on the path.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows what a command says only if it fails.
quietly() {
  "$@" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
}

./test.sh >"$work/tests" 2>&1 || { cat "$work/tests"; exit 1; }
cat "$work/tests"
PATH="$PWD/$(dirname "$(echo node_modules/@foundry-rs/forge-*/bin/forge)"):$PATH"
export PATH NO_COLOR=1
# Coverage is counted in unoptimized code, so the gas figures mean nothing there.
quietly forge coverage --report lcov --report-file "$work/lcov" --exclude-tests --no-match-coverage node_modules \
  --no-match-contract GasTest
# Slither has forge build for it, from nothing: into a folder of its own, so that the tests need not be compiled again.
FOUNDRY_OUT="forge-cache/slither" FOUNDRY_CACHE_PATH="forge-cache/slither-cache" \
  quietly slither . --json "$work/slither" --fail-none --warn-unused-ignores
bun report.mjs coverage "$work/lcov"
tail -n 1 "$work/tests"
bun report.mjs slither "$work/slither"
