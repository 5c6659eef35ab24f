#!/bin/sh
# Makes the site with guide and reference: build_site.sh TREE OUTPUT. Prints warnings, and fails when there is one.
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
# Every type, function, macro and member of the public headers needs a description.
if [ -s "$output/doxygen.log" ]; then
  sed "s|^$LATTICE_ROOT/||" "$output/doxygen.log" >&2
  exit 1
fi
