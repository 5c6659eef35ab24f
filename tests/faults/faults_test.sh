#!/bin/sh
# The game server and its clients while the system fails them: players join, play and leave, the server ends as it
# is told to, and it says what happened. faults_test.sh BUILD_DIR/apps INJECTOR
# shellcheck disable=SC3045 # ulimit -v: dash and bash have it
set -eu
apps=$1
injector=$2
server=$apps/lattice-gameserver/lattice-gameserver
client=$apps/depot-client/depot-client
dir=$(mktemp -d)
server_pid=
trap '[ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $1" >&2
  tail -n 20 log >&2 || true
  exit 1
}

# until_true COMMAND...: waits, at most 20 s, for it to succeed.
until_true() {
  for _ in $(seq 200); do
    ! "$@" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

# start FAULTS [ARGUMENT...]: starts a server that lives with those faults.
start() {
  faults=$1
  shift
  rm -rf data
  LATTICE_FAULTS=$faults FAULT_UNTIL_MS=${until_ms:-0} LD_PRELOAD=$injector \
    "$server" --bind 127.0.0.1:0 --data-dir data --parcels 100 "$@" >telemetry 2>log &
  server_pid=$!
  until_true test -f data/server.json || fail "with $faults it does not start"
}

# play SECONDS: two bots that must get in and leave.
play() {
  timeout 40 "$client" --data-dir data --count 2 --seconds "$1" >said 2>&1 ||
    fail "with $faults the clients ended with $?: $(cat said)"
}

# stop CODE: the server ends with that exit code when it is told to.
stop() {
  kill -TERM "$server_pid"
  code=0
  wait "$server_pid" || code=$?
  server_pid=
  [ "$code" = "$1" ] || fail "with $faults the server ended with $code, not $1"
}

# ---- The network: datagrams are lost, counted, and nothing else.
for fault in send:ENOBUFS/7 send:EPERM/7; do
  start "$fault" --telemetry stdout --telemetry-detail server
  play 3
  stop 0
  grep -qE '"refused":\{[^}]*"socket_send_(full|refused)":' telemetry || fail "$fault is not counted"
done
for fault in recv:ENOMEM/3 recv:EINTR/3; do
  start "$fault" --telemetry stdout --telemetry-detail server
  play 2
  stop 0
done
grep -q 'socket_receive_errors' telemetry && fail 'an interrupted call is no error'

# ---- The clock: a step back costs no tick, and is told.
start clock:-3000@1500 --telemetry stdout --telemetry-detail server
play 3
stop 0
grep -q 'the clock went back by' log || fail 'a step back of the clock is not logged'
grep -q '"clock_went_back":1' telemetry || fail 'a step back of the clock is not counted'

# ---- Entropy that comes late is waited for, with a message, and a signal ends the wait.
start 'entropy:EAGAIN*10'
grep -q 'has no entropy yet' log || fail 'the wait for entropy is not told'
play 1
stop 0
faults='entropy:EAGAIN*1000000'
rm -f log  # the one before says the same
LATTICE_FAULTS=$faults LD_PRELOAD=$injector "$server" --bind 127.0.0.1:0 --data-dir data >out 2>log &
server_pid=$!
until_true grep -q 'has no entropy yet' log || fail 'the wait for entropy is not told'
stop 130

# ---- Disks that are full.
start log:ENOSPC/1
play 1
stop 1
until_ms=1000 start log:ENOSPC/1
play 3
stop 0
grep -q '"msg":"listening"' log || fail 'what was kept for the log is lost'

# Telemetry goes on when somebody reads it again, and says what is missing.
mkfifo pipe
sleep 60 <>pipe &
holder=$!
start send:EINTR/1000000 --telemetry-fd 3 --telemetry-detail server 3>pipe
kill "$holder"
wait "$holder" 2>/dev/null || true
until_true grep -q '"cat":"telemetry","msg":"lines are lost"' log || fail 'lost telemetry is not told'
exec 4<>pipe
until_true grep -q '"msg":"lines are taken again"' log || fail 'telemetry does not go on'
timeout 2 cat <&4 >taken || true
exec 4<&-
grep -q '"missing":[1-9]' taken || fail 'telemetry does not say what is missing'
stop 0

# ---- Memory that runs out: newcomers are refused, and who plays stays.
start send:EINTR/1000000 --max-players 64 --connects-per-s 1000 --parcels 10000
play 1
size_kb=$(awk '/^VmSize/ { print $2 }' "/proc/$server_pid/status")
stop 0
rm -rf data
faults="an address space of $((size_kb + 4800)) kB"
(
  ulimit -v $((size_kb + 4800))
  exec "$server" --bind 127.0.0.1:0 --data-dir data --max-players 64 --connects-per-s 1000 >out 2>log
) &
server_pid=$!
until_true test -f data/server.json || fail "with $faults it does not start"
timeout 40 "$client" --data-dir data --count 40 --seconds 6 >said 2>&1 || true
joined=$(grep -c '"msg":"connected"' log) || true
[ "$joined" -ge 1 ] || fail "with $faults nobody got in"
grep -q 'server_full: no memory for another connection' log || fail "with $faults nobody was refused ($joined joined)"
[ "$(grep -c '"reason":"requested"' log)" = "$joined" ] || fail "with $faults a player was lost"
stop 0
faults='an address space that is much too small'
code=0
(
  ulimit -v $((size_kb - 8000))
  exec "$server" --bind 127.0.0.1:0 --data-dir data
) >out 2>log || code=$?
[ "$code" -ne 0 ] || fail 'it starts without memory'
grep -qE 'no more memory|error while loading' log || fail 'it does not say that memory is missing'
echo 'faults are lived with'
