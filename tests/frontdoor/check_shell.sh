#!/bin/sh
# Runs shellcheck on the front door and the scripts it starts: check_shell.sh TREE
set -eu
cd "$1"
if ! command -v shellcheck >/dev/null 2>&1; then
  echo "skipped: shellcheck is not installed"
  exit 77
fi
shellcheck --external-sources --check-sourced lattice
shellcheck .ci/run tools/cli/update_help.sh tests/consumer/*.sh tests/frontdoor/*.sh
shellcheck --shell=bash tools/cli/completion.bash
echo 'no finding'
