# ./lattice test --coverage: finds which lines of the library the tests and the fuzz corpora run. Sourced by
# ./lattice test.

# The least percentage of lines that must run: of reliability, and of the layers of the transport together.
coverage_least=95

# coverage_rows CSV: prints "layer|lines|covered" for every layer that has lines, then for the transport's layers
# together.
coverage_rows() {
  awk -F, '
    $1 !~ /^src\// { next }
    {
      layer = $1
      sub(/^src\//, "", layer)
      sub(/\/[^\/]*$/, "", layer)
      sub(/\/posix$/, "", layer)
      lines[layer] += $2
      covered[layer] += $3
      if (layer ~ /^transport/) { transport += $2; run += $3 }
    }
    END {
      for (layer in lines) print layer "|" lines[layer] "|" covered[layer]
      print "~ transport, together|" transport "|" run
    }' "$1" | LC_ALL=C sort | sed 's/^~ //'
}

# coverage_short ROWS: prints the layers, of those that are judged, that did not reach coverage_least.
coverage_short() {
  awk -F'|' -v least="$coverage_least" '
    ($1 == "reliability" || $1 == "transport, together") && 100 * $3 < least * $2 { print $1 }' "$1"
}

# Builds with counters, and runs the tests of the library that need no browser, clock or threads. Prints a table and
# adds rows to the summary. More simulated seeds find faults, but hardly new lines, so a few seeds are enough.
run_coverage() {
  if ! want_packages coverage; then
    add_skip coverage 'the whole build' "missing packages: $wanted"
    add_row coverage 'line coverage (packages missing)' 0 0 1 0
    return 0
  fi
  build_for_test coverage || return 0
  directory=$LATTICE_ROOT/build/coverage
  find "$directory" -name '*.gcda' -exec rm -f {} +
  LATTICE_SIM_SEEDS=${LATTICE_SIM_SEEDS:-8}
  export LATTICE_SIM_SEEDS
  run_ctest coverage 'gcc, counting lines' -LE 'browser|perf|threads' -E '^(layers|docs|models|conformance|frontdoor)\.'
  progress "adding up what ran"
  # Runs in the build directory, because gcov writes files to its working directory.
  if ! (cd "$directory" && gcovr -j "$build_jobs" --root "$LATTICE_ROOT" --filter "$LATTICE_ROOT/src/" \
    --exclude-throw-branches --csv --output coverage.csv . >gcovr.log 2>&1); then
    clear_progress
    add_fail coverage 'gcovr (build/coverage/gcovr.log)'
    add_row coverage 'line coverage' 0 1 0 0
    return 0
  fi
  clear_progress
  coverage_rows "$directory/coverage.csv" >"$summary/coverage"
  printf '\n%-36s %8s %8s %8s\n' layer lines run percent
  awk -F'|' '{ printf "%-36s %8d %8d %8.1f\n", $1, $2, $3, 100 * $3 / $2 }' "$summary/coverage"
  printf '%s\n' "Line by line: gcovr --root . --filter src/ --html-details build/coverage/index.html build/coverage"
  short=$(coverage_short "$summary/coverage")
  for judged in reliability 'transport, together'; do
    case $short in
      *"$judged"*)
        add_fail coverage "fewer than $coverage_least % of the lines of $judged ran"
        add_row coverage "lines of $judged" 0 1 0 0
        ;;
      *) add_row coverage "lines of $judged" 1 0 0 0 ;;
    esac
  done
}
