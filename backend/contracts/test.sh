#!/bin/sh
# Installs the packages of the lock file and runs the Solidity tests, which need no network. Needs `bun` on the PATH.
# SNAPSHOTS=write updates the gas figures instead of comparing them.
set -eu
cd "$(dirname "$0")"
bun install --frozen-lockfile --ignore-scripts >/dev/null 2>&1
bun compile.mjs --check
report=$(mktemp)
trap 'rm -f "$report"' EXIT
compare=true
[ "${SNAPSHOTS:-}" = write ] && compare=false
status=0
NO_COLOR=1 FORGE_SNAPSHOT_CHECK=$compare \
  "$(echo node_modules/@foundry-rs/forge-*/bin/forge)" test "$@" >"$report" 2>&1 || status=$?
cat "$report"
if [ "$status" -eq 0 ]; then
  grep -o '[0-9]* tests passed' "$report" | tail -n 1
fi
exit "$status"
