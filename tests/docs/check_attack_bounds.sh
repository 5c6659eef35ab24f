#!/bin/sh
# Checks that counters and tests named in the tables of docs/attack-bounds.md exist: check_attack_bounds.sh TREE
#
# In a table row the last two cells hold counters and tests, in backticks: a counter is a string literal (or, ending
# in _, the beginning of some) in src/, a test is TEST(Suite, Name), TEST_F or TEST_P in tests/unit, system or abi.
set -eu
cd "$1"
page=docs/attack-bounds.md
failures=0
complain() {
  echo "$page: $*"
  failures=$((failures + 1))
}

# cell FROM-THE-END: the names in backticks of that cell, one a line, of every row of five cells.
cell() {
  awk -F'|' -v back="$1" 'NF == 7 { print $(NF - back) }' "$page" | grep -oE '`[^`]+`' | tr -d '`' | sort -u
}

counters=$(cell 2)
tests=$(cell 1)
[ "$(printf '%s\n' "$counters" | wc -l)" -ge 20 ] || complain "its tables name hardly any counter"
[ "$(printf '%s\n' "$tests" | wc -l)" -ge 20 ] || complain "its tables name hardly any test"
for counter in $counters; do
  case $counter in
    *_) pattern="\"$counter" ;;
    *) pattern="\"$counter\"" ;;
  esac
  grep -rqF "$pattern" src || complain "no counter $counter"
done
for test in $tests; do
  suite=${test%%.*}
  name=${test#*.}
  grep -rqE "^TEST(_F|_P)?\\($suite, $name\\)" tests/unit tests/system tests/abi || complain "no test $test"
done
[ "$failures" = 0 ] || exit 1
echo "$(printf '%s\n' "$counters" | wc -l) counters and $(printf '%s\n' "$tests" | wc -l) tests exist"
