#!/bin/sh
# Writes the help texts of the programs to tools/cli/help: tools/cli/update_help.sh BUILD-FOLDER [TO-FOLDER]
# The texts are in the tree so that ./lattice COMMAND --help need not compile. tests/frontdoor compares them.
set -eu
tree=$(CDPATH='' cd -- "$(dirname "$0")/../.." && pwd)
build=$1
to=${2:-$tree/tools/cli/help}

# text FILE PROGRAM ARGUMENTS...: writes the program's output to FILE, with paths from the top of the tree.
text() {
  file=$to/$1
  shift
  "$@" | sed "s|$tree/||g" >"$file.new"
  mv "$file.new" "$file"
}

text demo.txt "$build/apps/depot-demo/lattice-demo" --help
tool=$build/apps/lattice-tool/lattice-tool
text token.txt "$tool" --help
# shellcheck disable=SC2013 # names without spaces
for word in $(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' "$to/token.txt"); do
  text "token-$word.txt" "$tool" "$word" --help
done
if [ -x "$build/bench/lattice-bench" ]; then
  text bench.txt "$build/bench/lattice-bench" --help
  text bench-list.txt "$build/bench/lattice-bench" --list
fi
