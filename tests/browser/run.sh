#!/bin/sh
# run.sh DEMO: runs run.mjs, or skips when node is not installed.
set -eu
if ! command -v node >/dev/null 2>&1; then
  echo "skipped: node is not installed (Debian package nodejs)"
  exit 77
fi
exec node "$(dirname "$0")/run.mjs" --demo "$1"
