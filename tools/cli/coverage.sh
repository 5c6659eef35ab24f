# ./lattice test --coverage: which lines of the library the tests and the fuzz corpora run. Sourced by ./lattice test.

# What these layers must reach together, in percent of their lines.
coverage_least=95

# "layer|lines|covered" for every layer that has lines, then for the two sums that are judged.
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
      if (layer ~ /^(transport|reliability)/) { judged += $2; run += $3 }
    }
    END {
      for (layer in lines) print layer "|" lines[layer] "|" covered[layer]
      print "~ transport and reliability|" judged "|" run
    }' "$1" | LC_ALL=C sort | sed 's/^~ //'
}

# Builds with counters, runs everything that needs no browser and no clock, prints a table; adds a row to the summary.
run_coverage() {
  if ! want_packages coverage; then
    add_skip coverage 'the whole build' "missing packages: $wanted"
    add_row coverage 'line coverage (packages missing)' 0 0 1 0
    return 0
  fi
  build_for_test coverage || return 0
  directory=$LATTICE_ROOT/build/coverage
  find "$directory" -name '*.gcda' -exec rm -f {} +
  LATTICE_SIM_SEEDS=${LATTICE_SIM_SEEDS:-40}
  export LATTICE_SIM_SEEDS
  run_ctest coverage 'gcc, counting lines' -LE 'browser|perf'
  progress "adding up what ran"
  if ! gcovr --root "$LATTICE_ROOT" --filter "$LATTICE_ROOT/src/" --exclude-throw-branches --csv \
    --output "$directory/coverage.csv" "$directory" >"$directory/gcovr.log" 2>&1; then
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
  if tail -n 1 "$summary/coverage" | awk -F'|' -v least="$coverage_least" '{ exit !(100 * $3 >= least * $2) }'; then
    add_row coverage "lines of transport and reliability" 1 0 0 0
  else
    add_fail coverage "fewer than $coverage_least % of the lines of transport and reliability ran"
    add_row coverage "lines of transport and reliability" 0 1 0 0
  fi
}
