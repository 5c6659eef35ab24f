#!/bin/sh
# Shows that check_includes.sh sees each kind of violation: check_includes_test.sh CHECK-SCRIPT
set -eu
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fresh_tree() {
  rm -rf "$tree"
  mkdir -p "$tree/cmake" "$tree/src/low" "$tree/src/deep/high" "$tree/src/platform/posix" "$tree/game-sim"
  cat >"$tree/cmake/layers.cmake" <<'TABLE'
lattice_layer(platform platform USES)
lattice_layer(low      low       USES platform SYSTEM sodium)
lattice_layer(high     deep/high ROOMS attic roof USES platform
                                      low)
TABLE
  for folder in low deep/high platform; do
    printf '// What it does.\n#pragma once\n' >"$tree/src/$folder/layer.h"
  done
  printf '#include <sys/socket.h>\n' >"$tree/src/platform/posix/udp.cpp"
  printf '#include <cstdint>\n#include <sodium.h>\n#include "platform/layer.h"\n' >"$tree/src/low/a.cpp"
  printf '#include "low/layer.h"\n#include "lattice/types.h"\n' >"$tree/src/deep/high/b.cpp"
  mkdir -p "$tree/src/deep/high/attic" "$tree/src/deep/high/roof"
  printf '#include "deep/high/b.h"\n' >"$tree/src/deep/high/attic/c.cpp"
  printf '#include "deep/high/attic/c.h"\n' >"$tree/src/deep/high/roof/d.cpp"
  printf '#include "lattice/lattice.h"\n#include "depot/map.h"\n' >"$tree/game-sim/game.cpp"
}

# refused FILE LINE EXPECTED-TEXT: adding LINE to FILE must be refused with that text.
refused() {
  fresh_tree
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "$2" >>"$tree/$1"
  if out=$(sh "$check" "$tree" 2>&1); then
    echo "not refused: '$2' in $1"
    failures=$((failures + 1))
  elif ! printf '%s' "$out" | grep -qF "$3"; then
    echo "refused for another reason: '$2' in $1: $out"
    failures=$((failures + 1))
  fi
}

fresh_tree
sh "$check" "$tree" || { echo "a tree without violations was refused"; failures=1; }
refused src/low/a.cpp '#include "deep/high/b.h"' 'layer low may not include layer high'
refused src/low/a.cpp '#include "../platform/layer.h"' 'has ".."'
refused src/low/a.cpp '#include "a.h"' 'in no layer'
refused src/low/a.cpp '#include <sys/socket.h>' 'belongs in src/platform'
refused src/low/a.cpp '#include <thread>' 'not used in src/'
refused src/deep/high/attic/c.cpp '#include "deep/high/roof/d.h"' 'room attic may not include the later room roof'
refused src/deep/high/b.cpp '#include <sodium.h>' 'has no SYSTEM sodium'
refused src/deep/high/b.cpp '#include "low/table_internal.h"' 'internal to low'
refused src/stray/c.cpp 'int x;' 'is in no layer'
refused src/low/layer.h 'int x;' 'comments only'
refused src/low/a.cpp "// $(printf 'TO%s' DO) later" 'unfinished'
refused game-sim/game.cpp '#include "low/layer.h"' 'inside the library'
refused game-sim/game.cpp '#include <unistd.h>' 'neither lattice/ nor'
refused apps/server/main.cpp '#include "deep/high/b.h"' 'inside the library'
refused include/lattice/types.h '#include "low/a.h"' 'public header'
refused src/low/long.cpp "$(awk 'BEGIN { for (i = 0; i < 801; i++) print "//" }')" 'more than 800 lines'
fresh_tree
rm "$tree/src/low/layer.h"
if sh "$check" "$tree" >/dev/null 2>&1; then
  echo "a layer without layer.h was not refused"
  failures=$((failures + 1))
fi
[ "$failures" = 0 ] && echo "every violation was refused"
exit "$((failures > 0))"
