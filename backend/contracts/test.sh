#!/bin/sh
# Installs what the lock file names and runs the Solidity tests without a network.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund >/dev/null
node compile.mjs --check
report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
NO_COLOR=1 node_modules/@foundry-rs/forge-linux-amd64/bin/forge test "$@" >"$report" 2>&1 || status=$?
cat "$report"
if [ "$status" -eq 0 ]; then
  grep -o '[0-9]* tests passed' "$report" | tail -n 1
fi
exit "$status"
