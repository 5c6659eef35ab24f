# ./lattice capture. Sourced by ./lattice after packages.sh and build.sh.

# run_live_capture FILE SECONDS BOTS IMPAIRMENT: runs a server that captures, and bots that leave by themselves.
run_live_capture() {
  need_packages core
  configure capture
  build capture apps/all
  unlock_build
  programs=$LATTICE_ROOT/build/capture/apps
  capture_folder=$(mktemp -d)
  server_pid=
  trap '[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null; rm -rf "$capture_folder"' EXIT
  "$programs/lattice-gameserver/lattice-gameserver" --bind 127.0.0.1:0 --data-dir "$capture_folder" --capture "$1" \
    --log-level warning &
  server_pid=$!
  tries=0
  while [ ! -e "$capture_folder/server.json" ]; do
    kill -0 "$server_pid" 2>/dev/null || die 1 "the server did not start; its reason is above."
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || die 1 "the server did not come up within 10 s."
    sleep 0.1
  done
  client_status=0
  "$programs/depot-client/depot-client" --data-dir "$capture_folder" --bot --count "$3" --seconds "$2" \
    --impairment "$4" --log-level warning || client_status=$?
  kill -INT "$server_pid"
  server_status=0
  wait "$server_pid" || server_status=$?
  server_pid=
  [ "$client_status" = 0 ] || die 1 "the bots ended with $client_status; their reason is above."
  [ "$server_status" = 0 ] || die 1 "the server ended with $server_status; its reason is above."
  say "wrote $1: wireshark -X lua_script:$LATTICE_ROOT/tools/wireshark/lattice.lua $1"
}

run_capture() {
  capture_file='' session='' seconds=10 bots=2 impairment=''
  while [ $# -gt 0 ]; do
    case $1 in
      --from-session | --seconds | --bots | --impairment)
        [ $# -ge 2 ] || die 2 "capture $1 needs a value." "./lattice capture --help shows how."
        case $1 in
          --from-session) session=$2 ;;
          --seconds) seconds=$2 ;;
          --bots) bots=$2 ;;
          --impairment) impairment=$2 ;;
        esac
        shift
        ;;
      -*) die 2 "capture does not know '$1'." "./lattice capture --help lists its options." ;;
      *)
        [ -z "$capture_file" ] || die 2 "capture writes one file, not '$capture_file' and '$1'."
        capture_file=$1
        ;;
    esac
    shift
  done
  [ -n "$capture_file" ] || die 2 "capture needs the file to write." "Example: ./lattice capture lattice.pcapng"
  if [ -n "$session" ]; then
    need_packages conformance
    python=/usr/bin/python3 # Debian's python, which finds Debian's modules
    [ -x "$python" ] || python=python3
    exec "$python" -B "$LATTICE_ROOT/tools/conformance/lattice_decode.py" capture "$session" "$capture_file"
  fi
  run_live_capture "$capture_file" "$seconds" "$bots" "$impairment"
}
