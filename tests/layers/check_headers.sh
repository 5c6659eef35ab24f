#!/bin/sh
# Compiles each public header alone: check_headers.sh C-COMPILER C++-COMPILER INCLUDE-FOLDER
# lattice/*.h must be C17 and C++20; lattice/*.hpp, lattice/authoring/*.h and lattice/cpp/*.h are C++20.
set -u
c_compiler=$1 cxx_compiler=$2
include=$(cd "$3" && pwd) || exit 1
failures=0 count=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
  count=$((count + 1))
  # Twice: the second time shows a missing include guard.
  printf '#include "%s"\n#include "%s"\nint lattice_header_check(void);\n' "$4" "$4" |
    "$1" -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include" - || {
    echo "$4 does not compile alone as $3"
    failures=$((failures + 1))
  }
}

cd "$include" || exit 1
for header in lattice/*.h; do
  compile "$c_compiler" c c17 "$header"
  compile "$cxx_compiler" c++ c++20 "$header"
done
for header in lattice/*.hpp lattice/authoring/*.h lattice/cpp/*.h; do
  [ -e "$header" ] || continue
  compile "$cxx_compiler" c++ c++20 "$header"
done
echo "$count compilations, $failures failed"
[ "$failures" = 0 ]
