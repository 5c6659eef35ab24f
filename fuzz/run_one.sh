#!/bin/sh
# Fuzzes one libFuzzer program from its committed corpus: run_one.sh PROGRAM CORPUS FOUND SECONDS parser|session
# New inputs and crashes go to FOUND, never into the tree. LATTICE_TEST_LONG=1 runs 600 s, at most 400 million
# executions, which takes a cheap decoder less time.
set -eu
program=$1 corpus=$2 found=$3 seconds=$4 kind=$5
runs=-1
if [ -n "${LATTICE_TEST_LONG:-}" ]; then
  seconds=600
  runs=400000000
fi
mkdir -p "$found/corpus" "$found/crashes"
set -- "$found/corpus"
[ ! -d "$corpus" ] || set -- "$@" "$corpus"
# The steps of a session are cheap to repeat and long inputs reach deeper, so sessions get long inputs at once.
[ "$kind" != session ] || set -- -len_control=0 "$@"
# A datagram is at most 1500 bytes; beyond that inputs only cost time.
exec "$program" -max_total_time="$seconds" -runs="$runs" -max_len=1600 -timeout=20 -rss_limit_mb=2048 \
  -artifact_prefix="$found/crashes/" -print_final_stats=1 "$@"
