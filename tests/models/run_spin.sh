#!/bin/sh
# Explores a Promela model whole:  run_spin.sh MODEL FOLDER [VARIANT...]
# The model must hold, and each VARIANT (a macro it knows) must be found wrong: a model that cannot fail says
# nothing. Returns 77 where spin or a C compiler is missing.
set -eu
model=$1
folder=$2
shift 2
for tool in spin cc; do
  command -v "$tool" >/dev/null 2>&1 || { echo "skipped: no $tool (Debian: spin, gcc)"; exit 77; }
done
mkdir -p "$folder"
cd "$folder"

# explore NAME [MACRO]: prints "holds" or "violated", and how much was looked at.
explore() {
  rm -f ./*.trail pan pan.*
  # shellcheck disable=SC2086 # no macro is no argument
  spin ${2:+-D$2} -a "$model" >spin.log 2>&1 || { cat spin.log >&2; exit 1; }
  cc -O1 -w -DSAFETY -DMEMLIM=1024 -o pan pan.c
  ./pan -m1000000 >pan.log 2>&1 || true
  grep -qE 'max search depth too small|out of memory|Search not completed|aborting' pan.log &&
    ! grep -qE 'errors: [1-9]' pan.log && { cat pan.log >&2; exit 1; }
  states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.log)
  if grep -q 'errors: 0' pan.log; then
    echo "$1: holds in all $states states"
    verdict=holds
  else
    echo "$1: violated ($(sed -n 's/^pan:1: //p' pan.log | head -n 1))"
    verdict=violated
  fi
}

explore model
[ "$verdict" = holds ] || { spin -t -p "$model" | tail -n 60; exit 1; }
for variant in "$@"; do
  explore "$variant" "$variant"
  [ "$verdict" = violated ] || { echo "the model does not tell $variant from the protocol"; exit 1; }
done
