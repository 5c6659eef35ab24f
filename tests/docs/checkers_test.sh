#!/bin/sh
# The checkers of the documents find what they are for: checkers_test.sh FOLDER-OF-THE-CHECKERS
# Each case makes a small tree with one fault and expects the checker to fail and to name it.
set -eu
checkers=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
command -v python3 >/dev/null || { echo "skipped: needs Python 3"; exit 77; }

fresh() {
  rm -rf "$tree"
  mkdir -p "$tree/examples" "$tree/docs/guide"
  printf 'int main(void) {\n  //! [add]\n  int a = 1;\n  //! [add]\n  return a - 1;\n}\n' >"$tree/examples/a.c"
}
# block MARKER-LINE CODE
block() { printf '%s\n```c\n%s\n```\n' "$1" "$2" >"$tree/docs/guide/page.md"; }

# passes WHAT COMMAND...   fails WHAT MESSAGE COMMAND...
passes() {
  what=$1
  shift
  "$@" >"$tree/out" 2>&1 || { echo "$what: should pass"; cat "$tree/out"; exit 1; }
}
fails() {
  what=$1 message=$2
  shift 2
  if "$@" >"$tree/out" 2>&1; then echo "$what: should fail"; exit 1; fi
  grep -qF -- "$message" "$tree/out" || { echo "$what: should say '$message'"; cat "$tree/out"; exit 1; }
}

snippets() { python3 "$checkers/check_snippets.py" "$tree" "$@"; }

fresh
block '<!-- from examples/a.c [add] -->' 'int a = 1;'
passes 'a block that is its region' snippets
block '<!-- from examples/a.c [add] -->' 'int a = 2;'
fails 'another number' 'differs from its source' snippets
passes 'copying' snippets --write
passes 'after copying' snippets
block '' 'int a = 1;'
fails 'no source named' 'no <!-- from FILE [region] -->' snippets
block '<!-- from examples/a.c [sub] -->' 'int a = 1;'
fails 'no such region' 'has 0 lines with the marker [sub]' snippets
block '<!-- from examples/b.c [add] -->' 'int a = 1;'
fails 'no such source' 'examples/b.c does not exist' snippets
block '<!-- from docs/a.c [add] -->' 'int a = 1;'
fails 'a source nobody compiles' 'nothing compiles it' snippets
block '<!-- from examples/a.c -->' 'int a = 1;
return a - 1;'
fails 'lines that do not follow each other' 'has no such run of lines' snippets
block '<!-- from examples/a.c -->' 'return a - 1;'
passes 'an excerpt' snippets
printf '```\nint a;\n```\n' >"$tree/docs/guide/page.md"
fails 'no language' 'say what the block holds' snippets
printf '```c\nint a;\n' >"$tree/docs/guide/page.md"
fails 'no end' 'never ends' snippets

refusals() { python3 "$checkers/check_refusals.py" "$tree" "$@"; }
mkdir -p "$tree/src/base"
printf 'LATTICE_EVENT_RPC(kA, "rpc_a", "A.")\n' >"$tree/src/base/events.def"
printf '<!-- events RPC -->\n' >"$tree/docs/guide/refusals.md"
fails 'a missing row' 'differs from src/base/events.def' refusals
passes 'writing the table' refusals --write
passes 'after writing' refusals
printf 'LATTICE_EVENT_RPC(kB, "rpc_a",\n  "B.")\n' >>"$tree/src/base/events.def"
fails 'a name twice' 'two events are named rpc_a' refusals --write
printf 'LATTICE_EVENT_LINK(kC, "link_c", "C.")\nLATTICE_EVENT_LINK(kD, "link_d", C)\n' >>"$tree/src/base/events.def"
fails 'a group without a table' 'no table of LINK' refusals
fails 'an event without a text' 'has an event that this cannot read' refusals
echo "every fault was found"
