#!/bin/sh
# The commands of docs/guide/getting-started.md and README.md, as a newcomer runs them: getting_started.sh TREE BUILD
# WORK [from-scratch]. HOME is WORK, and nothing outside of it is written. The library comes from BUILD, which is
# built already; with `from-scratch` the guide's own commands build it.
# shellcheck disable=SC2046,SC2086 # lists of options; paths without spaces
set -eu
tree=$1 build=$2 work=$3 from_scratch=${4:-}

rm -rf "$work"
mkdir -p "$work/game"
HOME=$work
export HOME
cd "$HOME"
ln -s "$tree" lattice
cp "$tree/tests/docs/getting_started/CMakeLists.txt" game/
cp "$tree/examples/01-hello/main.c" game/game.c

install_library() {
  # [install]
  cmake -S lattice -B build
  cmake --build build -j 4
  cmake --install build --prefix ~/.local
  # [install]
}

if [ -n "$from_scratch" ]; then
  install_library
else
  cmake --install "$build" --prefix "$HOME/.local"
fi >"$HOME/install.log" 2>&1 || { tail -n 20 "$HOME/install.log"; exit 1; }

# [hello]
cp -r lattice/examples/01-hello hello
cmake -S hello -B hello/build -DCMAKE_PREFIX_PATH=$HOME/.local
cmake --build hello/build
hello/build/hello
# [hello]

# [squares]
cp -r lattice/examples/03-predicted-square squares
cmake -S squares -B squares/build -DCMAKE_PREFIX_PATH=$HOME/.local
cmake --build squares/build
# [squares]
squares/build/predicted-square --selftest

# [build_game]
cmake -S game -B game/build -DCMAKE_PREFIX_PATH=$HOME/.local
cmake --build game/build
# [build_game]
game/build/game

cd game
# [pkg_config]
export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib
cc -std=c17 game.c -o game $(pkg-config --cflags --libs lattice)
# [pkg_config]
./game
# [static_link]
cc -std=c17 game.c -o game $(pkg-config --cflags lattice) ~/.local/lib/liblattice.a -lsodium -lstdc++ -lm
# [static_link]
./game
