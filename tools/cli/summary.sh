# Counts what ctest and GoogleTest reported. Sourced by ./lattice test.
#
# A GoogleTest program counts once per case (it writes its own XML), any other test counts once.
# Files, each appended to by every configuration that ran:
#   rows    "configuration|what|passed|failed|skipped|seconds"
#   skips   "configuration|name|reason"
#   fails   "configuration|name"

summary_begin() {
  summary=$LATTICE_ROOT/build/summary
  rm -rf "$summary"
  mkdir -p "$summary"
  : >"$summary/rows"
  : >"$summary/skips"
  : >"$summary/fails"
}

add_row() { printf '%s|%s|%s|%s|%s|%s\n' "$@" >>"$summary/rows"; }
add_skip() { printf '%s|%s|%s\n' "$@" >>"$summary/skips"; }
add_fail() { printf '%s|%s\n' "$@" >>"$summary/fails"; }

# "name status" for each test of a ctest log; status is passed, failed or skipped.
ctest_results() {
  awk '/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
    line = $0
    sub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /, "", line)
    name = line
    sub(/ .*/, "", name)
    status = "failed"
    if (line ~ /\*\*\*Skipped/) status = "skipped"
    else if (line ~ / Passed +[0-9.]+ sec/) status = "passed"
    print name, status
  }' "$1"
}

# "passed|failed|skipped" of one GoogleTest XML file; failures and skips go to their lists.
gtest_counts() {
  awk -v configuration="$2" -v skips="$summary/skips" -v fails="$summary/fails" '
    function attribute(line, key,    rest) {
      if (!match(line, " " key "=\"")) return ""
      rest = substr(line, RSTART + RLENGTH)
      sub(/".*/, "", rest)
      return rest
    }
    function finish() {
      if (name == "") return
      if (failure) { failed++; print configuration "|" name >> fails }
      else if (skip) { skipped++; print configuration "|" name "|" reason >> skips }
      else passed++
      name = ""
    }
    / *<testcase / {
      finish()
      name = attribute($0, "classname") "." attribute($0, "name")
      failure = 0
      skip = attribute($0, "result") == "skipped" || attribute($0, "result") == "suppressed"
      reason = attribute($0, "result") == "suppressed" ? "disabled in the source" : ""
      if (attribute($0, "status") == "notrun") { if (!skip) name = "" }
    }
    /<failure/ { failure = 1 }
    /<skipped message=/ {
      reason = attribute($0, "message")
      sub(/^.*&#x0A;/, "", reason)
      gsub(/&apos;/, "\047", reason); gsub(/&quot;/, "\"", reason); gsub(/&amp;/, "\\&", reason)
      skip = 1
    }
    END { finish(); printf "%d|%d|%d", passed, failed, skipped }' "$1"
}

# The "skipped: ..." line a test printed, from ctest own log of the last run.
skip_reason() {
  awk -v name="$2" '
    /^[0-9]+\/[0-9]+ Testing: / { here = ($3 == name) }
    here && /^skipped: / { sub(/^skipped: /, ""); print; exit }' "$1"
}

# count_run CONFIGURATION WHAT LOG GTEST-DIRECTORY LAST-TEST-LOG SECONDS
count_run() {
  configuration=$1 log=$3 gtest_directory=$4 last_log=$5
  ctest_results "$log" >"$summary/results"
  passed=0 failed=0 skipped=0 programs=0 programs_failed=0
  for xml in "$gtest_directory"/*.xml; do
    [ -e "$xml" ] || continue
    counts=$(gtest_counts "$xml" "$configuration")
    case_passed=${counts%%|*} case_skipped=${counts##*|}
    case_failed=${counts#*|}
    case_failed=${case_failed%|*}
    passed=$((passed + case_passed)) failed=$((failed + case_failed)) skipped=$((skipped + case_skipped))
    programs=$((programs + 1))
    [ "$case_failed" = 0 ] || programs_failed=$((programs_failed + 1))
  done
  tests=0 tests_failed=0 tests_skipped=0
  while read -r name status; do
    tests=$((tests + 1))
    case $status in
      failed)
        tests_failed=$((tests_failed + 1))
        add_fail "$configuration" "$name"
        ;;
      skipped)
        tests_skipped=$((tests_skipped + 1))
        reason=$(skip_reason "$last_log" "$name")
        add_skip "$configuration" "$name" "${reason:-it gave no reason}"
        ;;
    esac
  done <"$summary/results"
  # What ctest failed beyond the cases that GoogleTest wrote down: crashes, leaks, time limits.
  other_failed=$((tests_failed - programs_failed))
  [ "$other_failed" -ge 0 ] || other_failed=0
  passed=$((passed + tests - programs - other_failed - tests_skipped))
  [ "$passed" -ge 0 ] || passed=0
  failed=$((failed + other_failed)) skipped=$((skipped + tests_skipped))
  add_row "$configuration" "$2" "$passed" "$failed" "$skipped" "$6"
}

# Prints the table, failures and skips, and the closing line; true when nothing failed.
summary_end() {
  printf '\n%-10s %-36s %8s %8s %8s %8s\n' build what passed failed skipped seconds
  while IFS='|' read -r configuration what passed failed skipped seconds; do
    printf '%-10s %-36s %8s %8s %8s %8s\n' "$configuration" "$what" "$passed" "$failed" "$skipped" "$seconds"
  done <"$summary/rows"
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
