#!/bin/sh
# latticec as a program: check_latticec.sh LATTICEC FOLDER. Exit codes, files, depfiles, JSON.
set -eu
latticec=$1
here=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
# expect CODE TEXT COMMAND...
expect() {
  code=$1 text=$2
  shift 2
  got=0
  "$@" >out 2>&1 || got=$?
  [ "$got" = "$code" ] || fail "$* ended with $got, not $code: $(cat out)"
  grep -qF -e "$text" out || fail "$* does not say '$text': $(cat out)"
}

expect 2 'latticec cpp' "$latticec"
expect 0 'latticec cpp' "$latticec" --help
expect 0 'latticec wireshark' "$latticec" --help
expect 2 "did you mean 'check'?" "$latticec" chek a b
expect 2 'takes one file' "$latticec" cpp
expect 2 '-o needs a file' "$latticec" cpp a -o
expect 3 "cannot read 'none.lattice'" "$latticec" cpp none.lattice
expect 3 'it is not a file' "$latticec" cpp .
"$latticec" new game.lattice
expect 2 'is there already' "$latticec" new game.lattice
"$latticec" cpp game.lattice -o game.h
grep -q 'LATTICE_NETWORKED(Fighter' game.h || fail 'no C++ was made'
"$latticec" cpp "$here/everything.lattice" -o e.h -d e.d
grep -q "^e.h: .*everything.lattice .*parts.lattice" e.d || fail "the depfile is '$(cat e.d)'"
"$latticec" json "$here/everything.lattice" >e.json
if command -v python3 >/dev/null; then python3 -m json.tool e.json >/dev/null || fail 'the JSON is none'; fi
"$latticec" docs game.lattice -o game.md
grep -q '^### Fighter' game.md || fail 'no reference was made'
"$latticec" csharp game.lattice -o Game.cs
grep -q '^// Made by latticec from game.lattice. Do not edit.$' Game.cs || fail 'C# without its head'
grep -q 'public sealed class Fighter : lattice::Structure' Game.cs || fail 'no C# was made'
"$latticec" typescript game.lattice -o game.ts
grep -q '^export class Fighter extends lattice.Structure {$' game.ts || fail 'no TypeScript was made'
"$latticec" csharp --runtime -o Lattice.cs
cmp Lattice.cs "$here/../../tools/latticec/runtime/Lattice.cs" || fail 'another runtime of C#'
"$latticec" typescript --runtime | cmp - "$here/../../tools/latticec/runtime/lattice.ts" || fail 'another runtime of TypeScript'
expect 2 "'cpp' needs no runtime" "$latticec" cpp --runtime
"$latticec" wireshark game.lattice -o game.lua
[ "$(head -n 1 game.lua)" = '-- Made by latticec from game.lattice. Do not edit.' ] || fail 'the table has another head'
if command -v luac5.2 >/dev/null; then luac5.2 -p game.lua || fail 'the table is no Lua'; fi
cp game.lattice old.lattice
expect 0 'the wire is the same' "$latticec" check old.lattice game.lattice
sed -i 's/@bits(10)/@bits(12)/' game.lattice
expect 1 'Player.Fighter.health: uint16 bits 10 flags 0 -> uint16 bits 12 flags 0' "$latticec" check old.lattice game.lattice
"$latticec" fmt game.lattice
touch -d '2001-01-01' game.h
cp old.lattice game.lattice
"$latticec" cpp game.lattice -o game.h
[ "$(stat -c %Y game.h)" = "$(date -d 2001-01-01 +%s)" ] || fail 'a file that has the text already was written'
printf 'state A { uint8 x }' >bad.lattice
echo keep >bad.h
expect 3 "expected ';'" "$latticec" cpp bad.lattice -o bad.h
printf 'state A { uint8 Pack; }' >named.lattice
expect 3 "named.lattice:1:17: error: 'Pack' is a name that a class of C# has already" "$latticec" csharp named.lattice -o bad.h
[ "$(cat bad.h)" = keep ] || fail 'a schema with errors changed the output'
expect 4 'cannot write' "$latticec" cpp old.lattice -o none/game.h
[ "$(find . -name '*.new')" = '' ] || fail 'a temporary file stayed'
