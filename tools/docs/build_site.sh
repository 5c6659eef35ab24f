#!/bin/sh
# Makes the site of guides and reference: build_site.sh TREE OUTPUT. Prints warnings and fails when there is one.
set -eu
LATTICE_ROOT=$(CDPATH='' cd -- "$1" && pwd)
export LATTICE_ROOT
mkdir -p "$2"
output=$(CDPATH='' cd -- "$2" && pwd)
cd "$LATTICE_ROOT"
version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
{
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$output\""
  echo "PROJECT_NUMBER = $version"
} | doxygen - >"$output/doxygen.log" 2>&1 || { cat "$output/doxygen.log" >&2; exit 1; }
# Every function, type and member of the C headers needs a description. The C++ headers are thin: what a function there does
# is said of the C function with its name, and a vector's x needs no words.
if sed "s|^$LATTICE_ROOT/||" "$output/doxygen.log" |
  grep -vE '^include/lattice/(authoring/|cpp/|lattice\.hpp).* (is|are) not documented' >&2; then
  exit 1
fi
