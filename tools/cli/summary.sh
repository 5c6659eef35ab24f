# Counts the results of ctest and GoogleTest. Sourced by ./lattice test.
#
# A GoogleTest program counts once per case; any other test counts once.
# Files, each appended to by every configuration that ran:
#   rows    "configuration|what|passed|failed|skipped|seconds"
#   skips   "configuration|name|reason"
#   fails   "configuration|name"
#   faults  "configuration|count|what", one line for each line "fault: <count> <what>" that a test printed
#   fuzzed  "count|target", the executions of each libFuzzer program

summary_begin() {
  summary=$LATTICE_ROOT/build/summary
  make_folder "$LATTICE_ROOT/build"
  rm -rf "$summary"
  make_folder "$summary"
  : >"$summary/rows"
  : >"$summary/skips"
  : >"$summary/fails"
  : >"$summary/faults"
  : >"$summary/fuzzed"
}

add_row() { printf '%s|%s|%s|%s|%s|%s\n' "$@" >>"$summary/rows"; }
add_skip() { printf '%s|%s|%s\n' "$@" >>"$summary/skips"; }
add_fail() { printf '%s|%s\n' "$@" >>"$summary/fails"; }

# count_run CONFIGURATION WHAT CTEST-OUTPUT LAST-TEST-LOG SECONDS
# Verdicts come from ctest's output. Cases come from the log that ctest keeps of each test's own output.
count_run() {
  : >"$summary/counts"
  # shellcheck disable=SC2094 # each file is either read or written
  awk -v configuration="$1" -v skips="$summary/skips" -v fails="$summary/fails" '
    function finish() {
      if (name == "") return
      verdict = verdicts[name]
      if (cases == 0) {
        if (verdict == "skipped") {
          skipped++
          print configuration "|" name "|" (reason == "" ? "it gave no reason" : reason) >> skips
        } else if (verdict == "passed") passed++
      } else {
        passed += ok; skipped += skip; failed += bad
      }
      # The test failed and none of its cases did: a crash, a leak found at exit, or a time limit.
      if (verdict == "failed" && bad == 0) { failed++; print configuration "|" name >> fails }
      name = ""
    }
    FNR == NR {
      if ($0 !~ /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /) next
      line = $0
      sub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /, "", line)
      key = line
      sub(/ .*/, "", key)
      verdicts[key] = line ~ /\*\*\*Skipped/ ? "skipped" : line ~ / Passed +[0-9.]+ sec/ ? "passed" : "failed"
      next
    }
    /^[0-9]+\/[0-9]+ Testing: / {
      finish()
      name = $3
      ok = bad = skip = cases = 0
      reason = ""
      next
    }
    /^skipped: / && reason == "" { reason = $0; sub(/^skipped: /, "", reason) }
    /^\[       OK \] / { ok++; cases++ }
    /^\[  FAILED  \] [^ ]+.* \([0-9]+ ms\)$/ {
      bad++; cases++
      line = $0
      sub(/^\[  FAILED  \] /, "", line)
      sub(/ \([0-9]+ ms\)$/, "", line)
      print configuration "|" name " " line >> fails
    }
    /: Skipped$/ { reason_follows = 1; case_reason = ""; next }
    reason_follows { case_reason = $0; reason_follows = 0 }
    /^\[  SKIPPED \] [^ ]+ \([0-9]+ ms\)$/ {
      skip++; cases++
      print configuration "|" name " " $4 "|" (case_reason == "" ? "it gave no reason" : case_reason) >> skips
    }
    /^ *YOU HAVE [0-9]+ DISABLED TESTS?$/ {
      skip += $3
      print configuration "|" name " " $3 " cases|disabled in the source" >> skips
    }
    END { finish(); printf "%d|%d|%d\n", passed, failed, skipped }' "$3" "$4" >"$summary/counts"
  sed -n "s/^fault: \([0-9]*\) /$1|\1|/p" "$4" >>"$summary/faults"
  awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3; sub(/^fuzz\./, "", name) }
    /^stat::number_of_executed_units:/ { print $2 "|" name }' "$4" >>"$summary/fuzzed"
  IFS='|' read -r passed failed skipped <"$summary/counts"
  add_row "$1" "$2" "$passed" "$failed" "$skipped" "$5"
}

# Prints the table, the failures and skips, and the closing line. True when nothing failed.
summary_end() {
  printf '\n%-10s %-36s %8s %8s %8s %8s\n' build what passed failed skipped seconds
  while IFS='|' read -r configuration what passed failed skipped seconds; do
    printf '%-10s %-36s %8s %8s %8s %8s\n' "$configuration" "$what" "$passed" "$failed" "$skipped" "$seconds"
  done <"$summary/rows"
  if [ -s "$summary/faults" ]; then
    printf '\nFaults the simulations committed:\n'
    awk -F'|' '!($3 in sum) { order[++n] = $3 } { sum[$3] += $2 }
      END { for (i = 1; i <= n; ++i) printf "%14d  %s\n", sum[order[i]], order[i] }' "$summary/faults"
  fi
  if [ -n "${LATTICE_TEST_LONG:-}" ] && [ -s "$summary/fuzzed" ]; then
    printf '\nExecutions by fuzz target (1,000,000,000 in all are the goal of a long run):\n'
    sort -t'|' -k1,1nr "$summary/fuzzed" |
      awk -F'|' '{ sum += $1; printf "%14d  %s\n", $1, $2 } END { printf "%14.0f  in all\n", sum }'
  fi
  if [ -s "$summary/fails" ]; then
    printf '\nFailed:\n'
    sed 's/|/: /; s/^/  /' "$summary/fails"
  fi
  if [ -s "$summary/skips" ]; then
    printf '\nSkipped:\n'
    sed 's/|/: /; s/|/ — /; s/^/  /' "$summary/skips"
  fi
  awk -F'|' '{ p += $3; f += $4; s += $5 } END { printf "\n%d passed, %d failed, %d skipped\n", p, f, s }' \
    "$summary/rows"
  awk -F'|' '{ f += $4 } END { exit f > 0 }' "$summary/rows"
}
