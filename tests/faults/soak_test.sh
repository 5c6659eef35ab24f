#!/bin/sh
# A server that players join and leave without end, over bad links, some of them killed: its memory and its descriptors
# stay flat, and nobody who plays is lost. soak_test.sh BUILD_DIR/apps
# 25 minutes with LATTICE_TEST_LONG, or SOAK_SECONDS; without both it is skipped.
set -eu
apps=$1
server=$apps/lattice-gameserver/lattice-gameserver
client=$apps/depot-client/depot-client
seconds=${SOAK_SECONDS:-}
[ -z "${LATTICE_TEST_LONG:-}" ] || seconds=${seconds:-1500}
if [ -z "$seconds" ]; then
  echo 'skipped: 25 minutes of joins and leaves run with ./lattice test --long'
  exit 77
fi
dir=$(mktemp -d)
server_pid=
trap 'pkill -KILL -P $$ 2>/dev/null || true; [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $1" >&2
  tail -n 20 log >&2 || true
  exit 1
}

"$server" --bind 127.0.0.1:0 --data-dir data --telemetry stdout --telemetry-detail server --telemetry-rate 1 \
  --connects-per-s 1000 >telemetry 2>log &
server_pid=$!
for _ in $(seq 100); do
  [ ! -f data/server.json ] || break
  sleep 0.1
done
[ -f data/server.json ] || fail 'it does not start'

# A pseudo-random number below $1. The seed is fixed, so that a run can be repeated.
state=1
random() {
  state=$(((state * 1103515245 + 12345) % 2147483648))
  number=$((state / 65536 % $1))
}

joins=0 killed=0
: >samples
mkdir clients victims # by the number of the player: its log, and who was killed
until=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt "$until" ]; do
  kill -0 "$server_pid" 2>/dev/null || fail 'the server is gone'
  random 4
  case $number in
    0) link= ;;
    1) link='--impairment demo' ;;
    2) link='--impairment wifi-busy' ;;
    3) link='--impairment train' ;;
  esac
  random 9
  joins=$((joins + 1))
  # shellcheck disable=SC2086 # no words, or two
  "$client" --data-dir data --bot --seed "$joins" --seconds $((number + 1)) $link >/dev/null 2>"clients/$joins" &
  echo "$! $joins" >>pids
  random 7
  if [ "$number" = 0 ]; then
    victim=$(pgrep -o -x -P $$ depot-client) || victim=none
    if kill -KILL "$victim" 2>/dev/null; then
      killed=$((killed + 1))
      # The last one: the system uses numbers of processes again.
      touch "victims/$(awk -v pid="$victim" '$1 == pid { player = $2 } END { print player }' pids)"
    fi
  fi
  sleep 1
  rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$server_pid/status")
  descriptors=$(find "/proc/$server_pid/fd" -mindepth 1 | wc -l)
  echo "$rss $descriptors" >>samples
done
# The last ones play for 9 s. Those that were killed are there until their timeout.
sleep 21
kill -TERM "$server_pid"
code=0
wait "$server_pid" || code=$?
server_pid=
[ "$code" = 0 ] || fail "the server ended with $code"

# The highest of the third quarter of the run against that of the last one, after a warm-up.
verdict=$(awk '
  { rss[NR] = $1; if ($2 > most_fds) most_fds = $2; if (NR == 1) first_fds = $2; last_fds = $2 }
  END {
    for (i = 1; i <= NR; ++i) {
      quarter = int((i - 1) * 4 / NR)
      if (rss[i] > most[quarter]) most[quarter] = rss[i]
    }
    printf "rss_kb %d %d %d %d fds %d %d", most[0], most[1], most[2], most[3], first_fds, last_fds
    if (most[3] > most[1] * 1.05 + 1024) printf " GROWS"
    if (last_fds > first_fds + 2) printf " LEAKS"
  }' samples)
connected=$(grep -c '"msg":"connected"' log) || true
ended=$(grep -c '"msg":"disconnected"' log) || true
timeouts=0 lost_goodbyes=0
# The identity of a player is its number, the lowest byte first.
for identity in $(sed -n 's/.*"player":"\([0-9a-f]*\)".*"reason":"timeout".*/\1/p' log); do
  low=$(printf '%.2s' "$identity") rest=${identity#??}
  player=$((0x$(printf '%.2s' "$rest")$low))
  timeouts=$((timeouts + 1))
  [ ! -f "victims/$player" ] || continue
  grep -q '"msg":"disconnected","reason":"requested"' "clients/$player" || fail "player $player was lost while it played"
  lost_goodbyes=$((lost_goodbyes + 1))
done
p99=$(sed -n 's/.*"tick_p99_ms":\([0-9.]*\).*/\1/p' telemetry | sort -n | tail -n 1)
echo "soak: ${seconds} s, $joins clients started, $killed killed; $connected joined, $ended ended, $timeouts by timeout, $lost_goodbyes of them after a goodbye"
echo "soak: $verdict; worst tick p99 of any second: $p99 ms"
case $verdict in
  *GROWS* | *LEAKS*) fail "memory or descriptors: $verdict" ;;
esac
[ "$connected" = "$ended" ] || fail "$connected joined and $ended ended"
[ "$connected" -ge $((joins * 7 / 10)) ] || fail "only $connected of $joins got in"
# All of a goodbye's copies fall into one burst of the link "train" for 3 in 100 of those who leave over it.
[ "$lost_goodbyes" -le $((2 + joins / 50)) ] || fail "$lost_goodbyes of $joins left, and their goodbyes were lost"
