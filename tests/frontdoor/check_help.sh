#!/bin/sh
# The help that ./lattice prints without compiling is what the programs print: check_help.sh TREE BUILD
set -eu
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$1/tools/cli/update_help.sh" "$2" "$made"
for text in "$made"/*.txt; do
  diff -u "$1/tools/cli/help/${text##*/}" "$text" || {
    echo "tools/cli/help is out of date; write it anew: tools/cli/update_help.sh $2" >&2
    exit 1
  }
done
echo "$(find "$made" -name '*.txt' | wc -l) texts are the programs' own"
