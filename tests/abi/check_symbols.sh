#!/bin/sh
# What liblattice.so exports is exactly the list in symbols.txt, and that list is exactly the LATTICE_API
# functions of the headers: nothing internal leaks, nothing declared is missing.
#
#   check_symbols.sh LIBRARY            compare; non-zero when they differ
#   check_symbols.sh LIBRARY --update   write the list anew from the headers
set -eu

library=$1
mode=${2:-}
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
golden=$here/symbols.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A declaration may be wrapped, so lines are joined before looking for "LATTICE_API <type> <name>(".
cat "$here"/../../include/lattice/*.h | tr '\n' ' ' | grep -oE 'LATTICE_API [^;({#]*\(' |
  grep -oE 'lattice_[a-z0-9_]+\($' | tr -d '(' | LC_ALL=C sort -u >"$scratch/declared"
nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort -u >"$scratch/exported"

if [ "$mode" = --update ]; then
  cp "$scratch/declared" "$golden"
  echo "wrote $(wc -l <"$golden") names to $golden"
fi

status=0
# compare WHAT EXPECTED ACTUAL: diff marks with - what is missing and with + what is new.
compare() {
  if ! diff -u --label "$golden" --label "$1" "$2" "$3"; then
    echo "check_symbols: $1 differ from the golden list (- missing, + new)." >&2
    status=1
  fi
}
compare "the LATTICE_API functions of include/lattice" "$golden" "$scratch/declared"
compare "the symbols exported by $library" "$golden" "$scratch/exported"
if [ $status -ne 0 ]; then
  echo "If the change of the interface is meant: tests/abi/check_symbols.sh $library --update, and say" >&2
  echo "'Abi:' in the commit. If not: only src/abi may define names that begin with lattice_." >&2
fi
exit $status
