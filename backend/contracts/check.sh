#!/bin/sh
# Runs the tests, measures their coverage, runs Slither, and prints the figures at the end. Needs no network except for the
# packages that test.sh installs, and `bun` and `slither` on the PATH.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows the output of a command only if it fails.
quietly() {
  "$@" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
}

./test.sh >"$work/tests" 2>&1 || { cat "$work/tests"; exit 1; }
cat "$work/tests"
PATH="$PWD/$(dirname "$(echo node_modules/@foundry-rs/forge-*/bin/forge)"):$PATH"
export PATH NO_COLOR=1
# Coverage is measured on unoptimized code, so the gas figures would differ.
quietly forge coverage --report lcov --report-file "$work/lcov" --exclude-tests --no-match-coverage node_modules \
  --no-match-contract GasTest
# Slither makes forge build everything again. A separate folder keeps the build of the tests.
FOUNDRY_OUT="forge-cache/slither" FOUNDRY_CACHE_PATH="forge-cache/slither-cache" \
  quietly slither . --json "$work/slither" --fail-none --warn-unused-ignores
bun report.mjs coverage "$work/lcov"
tail -n 1 "$work/tests"
bun report.mjs slither "$work/slither"
