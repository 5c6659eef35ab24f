#!/bin/sh
# Fuzzes one libFuzzer program from its committed corpus: run_one.sh PROGRAM CORPUS FOUND SECONDS
# New inputs and crashes go to FOUND, never into the tree. LATTICE_TEST_LONG=1 runs 12 times as long.
set -eu
program=$1 corpus=$2 found=$3 seconds=$4
[ -z "${LATTICE_TEST_LONG:-}" ] || seconds=$((seconds * 12))
mkdir -p "$found/corpus" "$found/crashes"
set -- "$found/corpus"
[ ! -d "$corpus" ] || set -- "$@" "$corpus"
# A datagram is at most 1500 bytes; beyond that inputs only cost time.
exec "$program" -max_total_time="$seconds" -max_len=1600 -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$found/crashes/" -print_final_stats=1 "$@"
