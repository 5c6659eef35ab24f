#!/bin/sh
# Runs the independent decoder:  run_decoder.sh TREE vectors | examples | snapshots
#                                run_decoder.sh TREE session RECORDER FOLDER
# and the independent client:    run_decoder.sh TREE live SERVER
# and the Wireshark dissector:   run_decoder.sh TREE dissector RECORDER FOLDER
#                                run_decoder.sh TREE game RECORDER FOLDER LATTICEC
# and the library's captures:    run_decoder.sh TREE capture RECORDER FOLDER
# LATTICE_SESSION_SEEDS names the seeds to record, default "1 2 3". Returns 77 where Python or its crypto
# module is missing, or tshark, or the library was built without captures.
set -eu
tree=$1
what=$2

for candidate in /usr/bin/python3 python3; do
  if "$candidate" -c 'import cryptography' 2>/dev/null || "$candidate" -c 'import nacl.bindings' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "${python:-}" ]; then
  echo "skipped: no python3 with the cryptography or nacl module (Debian: python3-cryptography)"
  exit 77
fi
decode="$python -B $tree/tools/conformance/lattice_decode.py"

case $what in
  vectors) exec $decode vectors "$tree/tests/data/vectors/handshake.json" ;;
  examples) exec $decode examples "$tree/docs/spec" ;;
  snapshots) exec "$python" -B "$tree/tests/conformance/snapshot_test.py" ;;
  live) exec "$python" -B "$tree/tests/conformance/live_client_test.py" "$3" ;;
esac

recorder=$3
folder=$4
if [ "$what" = dissector ] || [ "$what" = game ]; then
  if ! command -v tshark >/dev/null; then
    echo "skipped: no tshark (Debian: tshark)"
    exit 77
  fi
  "$recorder" "$folder/$what.jsonl" 4
  if [ "$what" = game ]; then
    exec "$python" -B "$tree/tests/conformance/dissector_game_test.py" "$folder" "$folder/game.jsonl" "$5"
  fi
  exec "$python" -B "$tree/tests/conformance/dissector_test.py" "$folder" "$folder/dissector.jsonl"
fi
if [ "$what" = capture ]; then
  code=0
  rm -f "$folder/captured".* # what another build left there proves nothing
  "$recorder" "$folder/captured.jsonl" 5 "$folder/captured" || code=$?
  if [ "$code" = 2 ]; then
    echo "skipped: built without LATTICE_CAPTURE (the presets debug, clang and capture have it)"
    exit 77
  fi
  [ "$code" = 0 ] || exit 1
  exec "$python" -B "$tree/tests/conformance/capture_test.py" "$folder/captured"
fi
for seed in ${LATTICE_SESSION_SEEDS:-1 2 3}; do
  session=$folder/session_$seed.jsonl
  "$recorder" "$session" "$seed"
  $decode session "$session" || { echo "seed $seed, record kept: $session"; exit 1; }
done

# A decoder that accepts anything would pass as well: each of these changes must be noticed.
altered=$folder/altered.jsonl
must_refuse() {
  what=$1
  shift
  sed "$@" "$session" >"$altered"
  if cmp -s "$session" "$altered" || $decode session "$altered" >/dev/null; then
    echo "accepted a session with $what"
    exit 1
  fi
}
must_refuse "a changed bit" -e '90s/0"}$/1"}/;t' -e '90s/[1-9a-f]"}$/0"}/'
# Ten, because a number may be left out and a lost datagram is missed by nobody.
must_refuse "missing datagrams" -e 90,99d
# shellcheck disable=SC2016 # $ is the last line
must_refuse "another final owner" -e '$s/"owner":/"owner":9/'
# shellcheck disable=SC2016
must_refuse "another final state" -e '$s/"state":\["/"state":["7/'
must_refuse "another schema" -e '1s/"fixed_i32"/"fixed_i33"/'
must_refuse "another key of a rotation" -e '/rekey_secret/s/"[0-9a-f]\{2\}/"ab/'
rm -f "$altered"
echo "six altered sessions refused"
