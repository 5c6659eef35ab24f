#!/bin/sh
# Compiles the library for a target on which it does not run yet: check_portable.sh TREE wasm32|mingw64 WORK JOBS
#
# That is all of src/ but src/platform/posix, which is for POSIX systems alone. Warnings are errors.
set -eu
tree=$1 target=$2 work=$3 jobs=$4

# libsodium's headers fit every target, but the others in their folder are the host's.
mkdir -p "$work/include"
for header in sodium sodium.h; do
  [ -e "$work/include/$header" ] || ln -s "/usr/include/$header" "$work/include/$header"
done

case $target in
  wasm32) compiler='clang++-19 --target=wasm32-wasi -fno-exceptions -fno-rtti' ;;
  mingw64) compiler='x86_64-w64-mingw32-g++-posix -fno-exceptions -fno-rtti -DLATTICE_BUILD' ;;
  *)
    echo "check_portable.sh does not know the target '$target'." >&2
    exit 2
    ;;
esac

cd "$tree"
find src -name '*.cpp' ! -path 'src/platform/posix/*' | sort >"$work/files"
[ -s "$work/files" ] || {
  echo "There are no sources in $tree/src." >&2
  exit 1
}
# The files of a folder are compiled as one, because most of the time goes into headers.
rm -rf "$work/folders"
mkdir "$work/folders"
while read -r file; do
  echo "#include \"$tree/$file\"" >>"$work/folders/$(dirname "$file" | tr / -).cpp"
done <"$work/files"
# shellcheck disable=SC2086 # the compiler's options are words
ls "$work/folders"/*.cpp | xargs -P "$jobs" -n 1 $compiler -std=c++20 -O1 -c -o /dev/null -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
  -Wsign-conversion -Werror -ffp-contract=off -isystem "$work/include" -Isrc -Iinclude
echo "$(wc -l <"$work/files") files compile for $target."
