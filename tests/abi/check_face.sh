#!/bin/sh
# lattice.hpp as a compiler sees it: check_face.sh C++-COMPILER INCLUDE-FOLDER
# It compiles without exceptions and type information, and a callback with other parameters, or one that is private,
# is refused with a sentence that names the right ones.
set -eu
compiler=$1 include=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/head" <<'TEXT'
#include "lattice/lattice.hpp"
LATTICE_NETWORKED(Stick, (right, int8))
void use(const lattice::World& world);
template <int> class Game;
TEXT

# compile MEMBERS...: what the compiler says of games with these members, one class each.
compile() {
  {
    cat "$dir/head"
    uses='' number=0
    for members in "$@"; do
      number=$((number + 1))
      printf 'template <> class Game<%d> { %s };\n' $number "$members"
      uses="$uses { Game<$number>* game = nullptr; world.set_callbacks(*game); }"
    done
    echo "void use(const lattice::World& world) { $uses }"
  } >"$dir/game.cpp"
  "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Werror \
    -fno-exceptions -fno-rtti -fsyntax-only -I "$include" "$dir/game.cpp" >"$dir/said" 2>&1
}

accepts() { compile "$@" || { cat "$dir/said"; echo "FAILED: refused"; exit 1; }; }

# refuses MEMBERS SENTENCE...: pairs.
refuses() {
  : >"$dir/sentences"
  count=$(($# / 2))
  while [ "$count" -gt 0 ]; do
    printf '%s\n' "$2" >>"$dir/sentences"
    set -- "$@" "$1"
    shift 2
    count=$((count - 1))
  done
  if compile "$@"; then echo "FAILED: accepted: $*" && exit 1; fi
  while IFS= read -r sentence; do
    grep -qF -e "$sentence" "$dir/said" || { cat "$dir/said"; echo "FAILED: does not say '$sentence'"; exit 1; }
  done <"$dir/sentences"
}

accepts 'public: int value = 0;' \
  'public: virtual void on_connected(lattice::Connection) = 0; virtual ~Game() = default;' \
  'public: void on_sample_input(uint32_t, Stick&) {} void on_tick(const lattice_tick_context&) {}'
refuses 'void on_connected(lattice::Connection) {}' 'on_connected must be public'
refuses 'public: void on_connected(int*);' 'void on_connected(lattice::Connection)' \
  'public: void on_disconnected(lattice::Connection);' 'void on_disconnected(lattice::Connection, int reason)' \
  'public: void on_spawn(lattice_netid);' 'void on_spawn(lattice_netid, uint32_t type_id)' \
  'public: void on_despawn();' 'void on_despawn(lattice_netid)' \
  'public: void on_rpc(lattice_netid, uint16_t);' 'void on_rpc(const lattice::Call&)' \
  'public: void on_authority_changed();' 'void on_authority_changed(lattice_netid, lattice_peer_id)'
# Apart: a compiler stops after some errors.
refuses 'public: void on_tick(double);' 'void on_tick(const lattice_tick_context&)' \
  'public: void on_sample_input(Stick&);' 'void on_sample_input(uint32_t tick, Input&)' \
  'public: void on_message(lattice::Connection);' 'void on_message(lattice::Connection, lattice_channel, ' \
  'public: void on_admit(const lattice_conn_info&);' 'int on_admit(const lattice_conn_info&)' \
  'public: void on_resync();' 'void on_resync(uint32_t from_tick, uint32_t to_tick)' \
  'public: void on_receipt(int);' 'void on_receipt(lattice::Connection, uint32_t receipt, bool acked)' \
  'public: bool on_relevant(lattice_netid);' 'bool on_relevant(lattice::Connection, lattice_netid)' \
  'public: void on_value_clamped(lattice_netid);' 'void on_value_clamped(lattice_netid, uint16_t prop_id, ' \
  'public: void on_loaded();' 'void on_loaded(lattice::Connection)'
echo 'lattice.hpp wires what it should and refuses the rest'
