#!/bin/sh
# The programs from the outside: exit codes, files, a session of separate processes, nothing left behind.
# programs_test.sh BUILD_DIR/apps
set -eu
apps=$1
server=$apps/lattice-gameserver/lattice-gameserver
client=$apps/depot-client/depot-client
tool=$apps/lattice-tool/lattice-tool
demo=$apps/depot-demo/lattice-demo
dir=$(mktemp -d)
TMPDIR=$dir
export TMPDIR
server_pid=
trap 'pkill -P $$ 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

# expect CODE TEXT COMMAND...: the exit code, and a piece of what is printed.
expect() {
  code=$1 text=$2
  shift 2
  got=0
  "$@" >out 2>&1 </dev/null || got=$?
  [ "$got" = "$code" ] || fail "$* ended with $got, not $code: $(cat out)"
  grep -qF -e "$text" out || fail "$* does not say '$text': $(cat out)"
}

for program in "$server" "$client" "$demo" "$tool"; do
  expect 0 'Usage:' "$program" --help
  [ "$(wc -l <out)" -lt 45 ] || fail "$program --help is more than a screen"
  expect 0 'ABI' "$program" --version
done
expect 2 "Did you mean '--tick-rate'?" "$server" --tick-rat 5
expect 2 "Did you mean 'issue'?" "$tool" isue
expect 3 'LATTICE_TICK_RATE' env LATTICE_TICK_RATE=0 "$server"
printf 'tick_rate = 30\nsnapshot_rte = 5\n' >s.toml
expect 3 "s.toml:2:1: unknown key 'snapshot_rte'. Did you mean 'snapshot_rate'?" "$server" --config s.toml
expect 3 '. is not a file' "$server" --config .
expect 2 'descriptor 77 is not open' "$server" --telemetry-fd 77
expect 5 'server.json' "$client" --data-dir nowhere

"$server" --bind 127.0.0.1:0 --data-dir data --telemetry stdout >telemetry 2>log &
server_pid=$!
for _ in $(seq 100); do
  [ ! -f data/server.json ] || break
  sleep 0.1
done
address=$(sed -n 's/.*"address": "\(.*\)".*/\1/p' data/server.json)
[ "$(stat -c %a data/issuer.key)" = 600 ] || fail 'the issuer key is not private'
expect 4 'already in use' "$server" --bind "$address" --data-dir other
expect 0 'connected' "$client" --data-dir data --bot --seconds 1
expect 6 'tick_rate_hz: server 60, client 30' "$client" --data-dir data --bot --tick-rate 30
# Who never got in has not ended as asked.
expect 5 'never connected' "$client" --data-dir data --server 127.0.0.1:9 --bot --seconds 1
expect 0 'connected' "$client" --data-dir data --seconds 1 \
  --token-command "$tool issue --data-dir data --client-key {client_key} --user-data b"
"$tool" keys --data-dir foreign >/dev/null
"$tool" server-key --data-dir kept >made
"$tool" server-key --file kept/server.key | cmp - made || fail 'an identity has two public keys'
[ "$(stat -c %a kept/server.key)" = 600 ] || fail 'the identity is not private'
"$server" --bind 127.0.0.1:0 --data-dir kept >out 2>&1 &
kept_pid=$!
for _ in $(seq 100); do
  [ ! -f kept/server.json ] || break
  sleep 0.1
done
grep -q "\"server_public_key\": \"$(cat made)\"" kept/server.json || fail 'the server does not use its identity'
kill -INT "$kept_pid"
wait "$kept_pid" || fail "the server with an identity: $(cat out)"
chmod 644 kept/server.key
expect 3 'chmod 600' "$server" --bind 127.0.0.1:0 --data-dir kept
expect 3 'Cannot read' "$server" --bind 127.0.0.1:0 --data-dir other --server-key none
chmod 640 other/issuer.key
expect 3 'chmod 600' timeout 20 "$server" --bind 127.0.0.1:0 --data-dir other
expect 1 'chmod 600' "$tool" issue --data-dir other --client-key "$(cat made)" --server-key "$(cat made)"
# Two servers that start in one new folder: one has it, and the other is told who.
"$server" --bind 127.0.0.1:0 --data-dir both >both1 2>&1 &
winner=1 winner_pid=$!
"$server" --bind 127.0.0.1:0 --data-dir both >both2 2>&1 &
loser=2 loser_pid=$!
for _ in $(seq 100); do
  { ! grep -q listening both1 both2 || ! grep -q 'is in use by process' both1 both2; } || break
  sleep 0.1
done
if ! grep -q listening both1; then
  winner=2 loser=1 swapped=$winner_pid
  winner_pid=$loser_pid loser_pid=$swapped
fi
grep -q listening "both$winner" || fail "neither of two servers started: $(cat both1 both2)"
grep -q "is in use by process $winner_pid" "both$loser" || fail "the second does not say who: $(cat "both$loser")"
code=0
wait "$loser_pid" || code=$?
[ "$code" = 4 ] || fail "the second server ended with $code"
expect 4 "by process $winner_pid at 127.0.0.1:" "$server" --bind 127.0.0.1:0 --data-dir both
[ -f both/server.json ] || fail 'the note went with a server that had not written it'
[ "$("$tool" keys --data-dir both)" = "$(cat both/issuer.pub)" ] || fail 'issuer.pub is of another key'
kill -KILL "$winner_pid"
wait "$winner_pid" 2>/dev/null || true
"$server" --bind 127.0.0.1:0 --data-dir both >both3 2>&1 &
both3=$!
for _ in $(seq 100); do
  ! grep -q listening both3 || break
  sleep 0.1
done
grep -q listening both3 || fail "a server that was killed keeps its folder: $(cat both3)"
kill -INT "$both3"
wait "$both3" || fail "the server after it: $(cat both3)"
[ "$(ls both)" = 'issuer.key
issuer.pub
server.lock' ] || fail "servers left something behind: $(ls both)"
# A goodbye arrives, also through a link that holds it back: nobody stays as a ghost until the timeout.
expect 0 'connected' "$client" --data-dir data --bot --seconds 1 --impairment demo
sleep 0.5
[ "$(grep -c '"reason":"requested"' log)" = "$(grep -c '"msg":"connected"' log)" ] ||
  fail "a client that left is still there: $(cat log)"
# One grep says why somebody was dropped, and why somebody did not get in.
grep '"msg":"disconnected"' log | tail -n 1 >line
for word in '"player":"' '"session":"' '"connection":"' '"remote":"127.0.0.1:' '"seconds":' '"rtt_ms":' \
  '"loss_to_it_pct":' '"last_heard_s":' '"ended_by":"client"' '"reason":"requested"' '"text":'; do
  grep -qF -e "$word" line || fail "$word is not in the line of a leave: $(cat line)"
done
grep -qE 'refused 127.0.0.1:[0-9]+ player [0-9a-f]{32}: server_config_mismatch: tick_rate_hz: server 60' log ||
  fail "the log does not say who was refused: $(cat log)"
[ "$(grep -c ' connected from \|ended by the peer' log)" = 0 ] || fail 'joins and leaves are logged twice'
# A command that a client runs does not get the client's socket.
"$client" --data-dir data --seconds 1 --token-command "ls -l /proc/self/fd >$dir/inherited; echo !!" >out 2>&1 || true
[ -s inherited ] || fail 'the token command was not run'
! grep -e 'socket:' inherited || fail 'the token command inherits the socket'
key=$(sed -n 's/.*"server_public_key": "\(.*\)".*/\1/p' data/server.json)
# A denial is not authenticated, so a client believes it only when its connect budget is over.
expect 5 'never accepted: token refused' "$client" --server "$address" --seconds 20 \
  --token-command "$tool issue --data-dir foreign --client-key {client_key} --server-key $key"
grep -q '"refused":{[^}]*"server_unknown_issuer":' telemetry || fail 'telemetry does not say why it was refused'
grep -q '"schema_differences":\[\]' telemetry || fail 'telemetry does not say what schemas differ in'
expect 1 'not a token in base64' "$client" --data-dir data --token-command 'echo !!'
grep -q '"players":1' telemetry || fail 'the server never saw a player'
kill -INT "$server_pid"
code=0
wait "$server_pid" || code=$?
server_pid=
[ "$code" = 0 ] || fail "the server ended with $code after Ctrl-C"
[ ! -f data/server.json ] || fail 'server.json outlives the server'

# IPv6, and both families on one port.
if grep -q '^0*1 .* lo$' /proc/net/if_inet6 2>/dev/null; then
  for bind in '[::1]:0' '[::]:0'; do
    "$server" --bind "$bind" --data-dir data 2>log6 &
    server_pid=$!
    for _ in $(seq 100); do
      [ ! -f data/server.json ] || break
      sleep 0.1
    done
    expect 0 'connected' timeout 20 "$client" --data-dir data --bot --seconds 1
    kill -INT "$server_pid"
    wait "$server_pid" || fail "the server at $bind: $(cat log6)"
    server_pid=
  done
fi

# A log that nobody reads stops nobody: its pipe is full before the server starts.
mkfifo unread
exec 9<>unread
dd if=/dev/zero of=unread bs=4096 count=1024 oflag=nonblock 2>/dev/null || true
"$server" --bind 127.0.0.1:0 --data-dir data 2>unread 9<&- &
server_pid=$!
for _ in $(seq 100); do
  [ ! -f data/server.json ] || break
  sleep 0.1
done
expect 0 'connected' timeout 20 "$client" --data-dir data --bot --seconds 1
timeout 2 cat unread >taken || true
tr -d '\000' <taken | grep -q '"msg":"connected"' || fail 'what was kept for the log is lost'
dd if=/dev/zero of=unread bs=4096 count=1024 oflag=nonblock 2>/dev/null || true
kill -TERM "$server_pid"
timeout 20 tail --pid="$server_pid" -f /dev/null || fail 'a server whose log is not read does not end'
code=0
wait "$server_pid" || code=$?
server_pid=
exec 9<&-
[ "$code" = 0 ] || fail "the server whose log was not read ended with $code"

# Targets depend on how busy the machine is; here only that the run measures and cleans up.
code=0
"$demo" --headless --seconds 2 --bots 2 --profile none --json >result 2>log || code=$?
[ "$code" -le 1 ] || fail "the demo ended with $code: $(cat log)"
grep -q '"targets":\[{"name":"ticks_beyond_step_pct"' result || fail "no targets: $(cat result log)"
[ -z "$(find "$dir" -name 'lattice-demo-*')" ] || fail 'the demo left its folder behind'

expect 2 '--json needs --headless' timeout 20 "$demo" --json --no-open
expect 2 '--seconds needs --headless' timeout 20 "$demo" --seconds 5 --no-open
expect 2 "--page-dir is 'nowhere', which has no index.html" timeout 20 "$demo" --no-open --page-dir nowhere
expect 3 "LATTICE_PAGE_DIR is 'nowhere', which has no index.html" env LATTICE_PAGE_DIR=nowhere \
  timeout 20 "$demo" --no-open

# until_true COMMAND...: waits, at most 20 s, for it to succeed.
until_true() {
  for _ in $(seq 200); do
    ! "$@" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}
has_url() { grep -q '^url: http://127.0.0.1:' url; }
no_folder() { [ -z "$(find "$dir" -name 'lattice-demo-*')" ]; }

# A browser that notes what it was given, and ends.
mkdir bin
cat >bin/xdg-open <<'SH'
#!/bin/sh
{
  echo "url $1"
  echo "group $(cut -d' ' -f5 /proc/$$/stat)"
  echo "session $(cut -d' ' -f6 /proc/$$/stat)"
  ls -l /proc/$$/fd
} >browser.new
mv browser.new browser
SH
chmod +x bin/xdg-open

rm -f url
DISPLAY=:0 PATH=$dir/bin:$PATH "$demo" --bots 2 >url 2>log &
demo_pid=$!
until_true has_url || fail "no url: $(cat url log)"
until_true test -f browser || fail 'the browser was not opened'
grep -qF "url $(sed -n 's/^url: //p' url)" browser || fail "the browser got another address: $(cat browser)"
! grep -E -e '-> (socket|pipe):' browser || fail 'the browser inherits sockets or pipes'
! grep -qxE "(group|session) $demo_pid" browser || fail "the browser is in the demo's process group"
[ "$(sed -n 's/^session //p' browser)" != "$(cut -d' ' -f6 /proc/$$/stat)" ] || fail 'the browser is in our session'
no_zombie() { ! grep -lE '^[0-9]+ \(.*\) Z '"$demo_pid " /proc/[0-9]*/stat >zombies; }
until_true no_zombie || fail 'the browser that ended is not reaped'
# The page's socket in hexadecimal in /proc/net/tcp, and its inode.
port=$(printf ':%04X' "$(sed -n 's|^url: .*:\([0-9]*\)/$|\1|p' url)")
inode=$(awk -v port="$port" '$2 ~ port "$" && $4 == "0A" { print $10 }' /proc/net/tcp)
[ -n "$inode" ] || fail 'the page has no socket'
children=$(pgrep -P "$demo_pid")
for pid in $children; do
  for fd in /proc/"$pid"/fd/*; do
    [ "$(readlink "$fd")" != "socket:[$inode]" ] || fail "process $pid inherits the page's socket"
  done
done
kill -INT "$demo_pid"
code=0
wait "$demo_pid" || code=$?
[ "$code" = 0 ] || fail "the demo ended with $code after Ctrl-C"
for pid in $children; do
  ! kill -0 "$pid" 2>/dev/null || fail "process $pid outlives the demo"
done
no_folder || fail 'the demo left its folder behind'

# However the demo ends, nothing of it stays.
rm -f url
"$demo" --no-open --bots 2 >url 2>log &
demo_pid=$!
until_true has_url || fail "no url: $(cat url log)"
children=$(pgrep -P "$demo_pid")
kill -KILL "$demo_pid"
wait "$demo_pid" 2>/dev/null || true
until_true no_folder || fail 'the demo was killed, and its folder is still there'
for pid in $children; do
  child_ended() { ! kill -0 "$pid"; }
  until_true child_ended || fail "process $pid outlives the demo that was killed"
done

# A terminal that is closed: whoever holds its other end is killed, and the kernel sends SIGHUP.
if command -v script >/dev/null; then
  rm -f url
  env --default-signal=HUP script -qec "exec '$demo' --no-open --bots 2 >url 2>log" /dev/null >/dev/null </dev/null &
  terminal_pid=$!
  until_true has_url || fail "no url on a terminal: $(cat url log)"
  demo_pid=$(pgrep -P "$terminal_pid")
  children=$(pgrep -P "$demo_pid")
  kill -KILL "$terminal_pid"
  wait "$terminal_pid" || true
  demo_ended() { ! kill -0 "$demo_pid"; }
  until_true demo_ended || fail 'the demo outlives its terminal'
  for pid in $children; do
    ! kill -0 "$pid" 2>/dev/null || fail "process $pid outlives the terminal"
  done
  no_folder || fail 'closing the terminal leaves a folder behind'
fi
echo 'programs behave'
