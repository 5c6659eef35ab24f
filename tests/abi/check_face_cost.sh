#!/bin/sh
# lattice.hpp costs nothing that a benchmark can see: check_face_cost.sh PROGRAM
# The frames of face_cost.cpp, counted in instructions, may cost 1 % more through the face than through the C functions.
set -eu
command -v valgrind >/dev/null || { echo 'skipped: needs valgrind'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# count WAY: instructions of the whole program; its output to $dir/WAY.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" >"$dir/$2" 2>"$dir/log" || { cat "$dir/log"; exit 1; }
  sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$dir/log"
}

c=$(count "$1" c)
face=$(count "$1" face)
cmp "$dir/c" "$dir/face" || { echo 'FAILED: the two do not draw the same'; exit 1; }
echo "instructions: $c through C, $face through the face"
[ "$((face * 100))" -le "$((c * 101))" ] || { echo 'FAILED: the face costs more than 1 %'; exit 1; }
