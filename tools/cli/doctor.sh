# ./lattice doctor: says what this machine has and lacks. Sourced by ./lattice. Changes nothing.

wanted_buffer_bytes=4194304

first_line() { "$@" 2>/dev/null </dev/null | head -n 1; }

json_text() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | tr -d '\n'; }

# fact KEY STATE TEXT [ACTION]: STATE is ok, note or bad. Prints a line, or stores it for --json.
fact() {
  [ "$2" != bad ] || doctor_bad=1
  if [ -n "$doctor_json" ]; then
    facts="$facts${facts:+,}
  \"$1\": {\"state\": \"$2\", \"value\": \"$(json_text "$3")\""
    [ -z "${4:-}" ] || facts="$facts, \"action\": \"$(json_text "$4")\""
    facts="$facts}"
    return
  fi
  case $2 in
    ok) mark="${green}ok  ${plain}" ;;
    note) mark="${yellow}note${plain}" ;;
    *) mark="${red}bad ${plain}" ;;
  esac
  printf '  %s  %-17s %s\n' "$mark" "$1" "$3"
  [ -z "${4:-}" ] || printf '                          -> %s\n' "$4"
}

tool_fact() { # KEY COMMAND VERSION-FLAG STATE-WHEN-MISSING
  if have "$2"; then fact "$1" ok "$(first_line "$2" "$3")"; else fact "$1" "$4" "not found"; fi
}

package_fact() { # KEY SET STATE-WHEN-MISSING PURPOSE
  lacking=$(missing_packages "$2")
  if [ -z "$lacking" ]; then
    fact "$1" ok "all present ($4)"
  else
    fact "$1" "$3" "missing: $lacking ($4)" "$(apt_line "$lacking")"
  fi
}

buffer_fact() { # KEY SYSCTL
  file=/proc/sys/$(printf '%s' "$2" | tr . /)
  if [ ! -r "$file" ]; then
    fact "$1" note "unknown: this system has no $2"
    return
  fi
  bytes=$(cat "$file")
  if [ "$bytes" -ge "$wanted_buffer_bytes" ]; then
    fact "$1" ok "$2 = $bytes"
  else
    fact "$1" note "$2 = $bytes; a busy server wants $wanted_buffer_bytes" \
      "sudo sysctl -w $2=$wanted_buffer_bytes"
  fi
}

probe_value() { printf '%s\n' "$probe" | sed -n "s/^$1=//p"; }

udp_facts() {
  if ! have perl; then
    fact udp note "not tested: perl is not here" "$(apt_line perl-base)"
    return
  fi
  probe=$(perl "$LATTICE_ROOT/tools/cli/udp_probe.pl" 2>&1)
  v4=$(probe_value udp_ipv4) v6=$(probe_value udp_ipv6) gso=$(probe_value udp_gso)
  if [ "$v4" = ok ]; then
    fact udp_ipv4 ok "a datagram to 127.0.0.1 came back"
  else
    fact udp_ipv4 bad "${v4:-$probe}" "Allow UDP on the loopback interface; the demo needs it."
  fi
  if [ "$v6" = ok ]; then
    fact udp_ipv6 ok "a datagram to ::1 came back"
  else
    fact udp_ipv6 note "${v6:-unknown}; IPv4 is enough for the demo"
  fi
  if [ "$gso" = yes ]; then
    fact udp_gso ok "the kernel knows UDP_SEGMENT"
  else
    fact udp_gso note "the kernel does not know UDP_SEGMENT; sending costs more system calls"
  fi
}

run_doctor() {
  doctor_json='' doctor_bad='' facts=''
  [ -t 1 ] || green='' yellow='' red='' plain=''
  case ${1:-} in
    '') ;;
    --json) doctor_json=1 ;;
    *) die 2 "doctor does not know '$1'." "It knows --json." ;;
  esac
  [ -n "$doctor_json" ] || printf '%s\n' "Lattice at $LATTICE_ROOT"
  system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null)
  fact system ok "${system:-unknown}, $(uname -sr), $(uname -m), $build_jobs processors"
  tool_fact gcc g++ --version bad
  tool_fact cmake cmake --version bad
  tool_fact ninja ninja --version bad
  tool_fact clang clang++-14 --version note
  tool_fact ccache ccache --version note
  tool_fact node node --version note
  tool_fact chromium chromium --version note
  package_fact packages core bad "to build, play and test"
  package_fact packages_bench_transport bench_transport note "for ENet's rows in bench transport"
  package_fact packages_bench_serialize bench_serialize note "for the rows of protobuf and FlatBuffers in bench serialize"
  package_fact packages_browser browser note "for the browser test"
  package_fact packages_conformance conformance note "for the decoder written from the specification"
  package_fact packages_docs docs note "for ./lattice docs"
  package_fact packages_models models note "for the model of key rotation"
  package_fact packages_dissector dissector note "for the test of the Wireshark dissector"
  package_fact packages_languages languages note "for the proof that C++, C# and TypeScript agree"
  package_fact packages_shell shell note "for the check of the shell scripts"
  package_fact packages_matrix matrix note "for test --matrix"
  package_fact packages_portable_wasm32 portable_wasm32 note "for test --matrix: compile for WebAssembly"
  package_fact packages_portable_mingw64 portable_mingw64 note "for test --matrix: compile for Windows"
  package_fact packages_coverage coverage note "for test --coverage"
  udp_facts
  buffer_fact receive_buffer net.core.rmem_max
  buffer_fact send_buffer net.core.wmem_max
  clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
  if [ -r "$clock" ]; then
    fact clock_source ok "$(cat "$clock")"
  else
    fact clock_source note "unknown: not shown on this system"
  fi
  if [ -n "$doctor_json" ]; then
    printf '{%s\n}\n' "$facts"
  elif [ -n "$doctor_bad" ]; then
    printf '%s\n' "Something needed is missing; the lines marked bad say what to do."
  else
    printf '%s\n' "Everything needed is here."
  fi
  [ -z "$doctor_bad" ]
}
