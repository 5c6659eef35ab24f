#!/bin/sh
# The same bytes from C++, C# and TypeScript:  check_languages.sh MAKE_CASES TREE FOLDER COMPILER LIBRARY...
# Random schemas and values (make_cases.cpp). For each, the library with the description of the schema, generated C++,
# generated C# on Mono and generated TypeScript on Node must write the same whole states and deltas, read them back, and agree
# on damaged bytes. 50 schemas; 1,000 with LATTICE_TEST_LONG. LATTICE_LANGUAGE_SCHEMAS names other numbers: "FIRST COUNT".
# C# runs once with checked arithmetic, as some projects have it, where what wraps around by mistake throws.
# COMPILER is a compiler of C++ with its options. Returns 77 where a compiler or a runtime is missing.
set -eu
make_cases=$1 tree=$2 folder=$3 compiler=$4
shift 4

for program in mcs mono node tsc; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: no $program (Debian: mono-mcs mono-runtime nodejs node-typescript)"
    exit 77
  fi
done
here=$tree/tests/latticec/languages
typescript="tsc --strict --target es2020 --lib es2020 --module commonjs --noImplicitReturns --noImplicitOverride --outDir out"

# batch FIRST COUNT [SCHEMA...]: one program for each language.
batch() {
  rm -rf "$folder"
  mkdir -p "$folder"
  "$make_cases" "$folder" "$@"
  cd "$folder"
  cp "$here/driver.ts" "$here/image.ts" .
  # shellcheck disable=SC2086 # a compiler and its options
  $compiler -I"$folder" -I"$tree/include" -I"$tree/src" "$here/driver.cpp" -o driver $libraries -lsodium
  ./driver cases.bin
  mcs -langversion:7.2 -warn:4 -warnaserror -checked+ -out:driver.exe ./*.cs "$here/Driver.cs"
  mono driver.exe cases.bin
  $typescript driver.ts
  node out/driver.js cases.bin
}

libraries=$*
started=$(date +%s)
if [ -n "${LATTICE_LANGUAGE_SCHEMAS:-}" ]; then
  # shellcheck disable=SC2086 # two numbers
  batch $LATTICE_LANGUAGE_SCHEMAS
else
  batch 1 50 "$here/edges.lattice" "$tree/tests/latticec/everything.lattice" "$tree/game-sim/depot.lattice" \
    "$tree/examples/10-schema-compiler/camp.lattice"
  mcs -langversion:7.2 -warn:4 -warnaserror -out:use.exe Lattice.cs camp.cs "$here/UseCamp.cs"
  mono use.exe
  cp "$here/use_camp.ts" .
  $typescript use_camp.ts
  node out/use_camp.js
  if [ -n "${LATTICE_TEST_LONG:-}" ]; then
    first=51
    while [ "$first" -lt 1000 ]; do
      batch "$first" 50
      first=$((first + 50))
    done
  fi
fi

# A driver that says yes to everything would pass as well: it must notice one bit in what is expected.
for run in ./driver 'mono driver.exe' 'node out/driver.js'; do
  if $run altered.bin >altered.log 2>&1; then
    echo "FAILED: '$run' did not notice an altered case" >&2
    exit 1
  fi
done
echo "all languages agree, $(($(date +%s) - started)) s"
