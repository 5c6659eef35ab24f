# ./lattice test. Sourced by ./lattice after build.sh, packages.sh and summary.sh.

test_filter='' test_matrix='' test_long='' test_coverage=''

# run_ctest PRESET WHAT [CTEST ARGUMENTS]: runs the tests, shows the failures, counts the results.
run_ctest() {
  preset=$1 what=$2
  shift 2
  directory=$LATTICE_ROOT/build/$preset
  log=$directory/ctest.log
  rm -f "$directory/Testing/Temporary/LastTest.log"
  [ -z "$test_filter" ] || set -- "$@" -R "$test_filter"
  started=$(date +%s)
  GTEST_COLOR=no ctest --test-dir "$directory" -j2 --output-on-failure --no-tests=ignore --timeout 1500 "$@" \
    </dev/null 2>&1 | {
    while IFS= read -r line; do
      printf '%s\n' "$line" >&8
      case $line in
        *' Test '*'#'*Passed*) if [ -t 2 ]; then progress "$preset $line"; else printf '%s\n' "$line"; fi ;;
        *' Start '*) [ ! -t 2 ] || progress "$preset $line" ;;
        *)
          clear_progress
          printf '%s\n' "$line"
          ;;
      esac
    done
  } 8>"$log"
  clear_progress
  last_log=$directory/Testing/Temporary/LastTest.log
  [ -e "$last_log" ] || : >"$last_log"
  count_run "$preset" "$what" "$log" "$last_log" $(($(date +%s) - started))
}

# build_for_test PRESET [TARGET...]: builds a preset. On failure records it and returns 1, so that the other builds still
# run.
build_for_test() {
  configured=$1
  shift
  configure "$configured"
  started=$(date +%s)
  if try_build "$configured" "$@"; then return 0; fi
  add_row "$configured" 'build (build/'"$configured"'/build.log)' 0 1 0 $(($(date +%s) - started))
  add_fail "$configured" build
  return 1
}

# Fetches the node modules of the browser test, as the lock file says, into build/: the tree stays clean.
fetch_playwright() {
  modules=$LATTICE_ROOT/build/browser
  mkdir -p "$modules"
  if [ -d "$modules/node_modules/playwright-core" ] &&
    cmp -s "$LATTICE_ROOT/tests/browser/package-lock.json" "$modules/package-lock.json"; then
    return 0
  fi
  cp "$LATTICE_ROOT/tests/browser/package.json" "$LATTICE_ROOT/tests/browser/package-lock.json" \
    "$LATTICE_ROOT/tests/browser/.npmrc" "$modules/" || return 1
  say "fetching playwright-core for the browser test"
  if ! (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1) >"$modules/npm.log" 2>&1 </dev/null; then
    rm -f "$modules/package-lock.json"
    return 1
  fi
}

# tree_changed_since FILE: true when a file on which test results depend is newer than FILE.
tree_changed_since() {
  [ ! -e "$1" ] || [ -n "$(find "$LATTICE_ROOT/CMakeLists.txt" "$LATTICE_ROOT/CMakePresets.json" \
    "$LATTICE_ROOT/cmake" "$LATTICE_ROOT/include" "$LATTICE_ROOT/src" "$LATTICE_ROOT/game-sim" \
    "$LATTICE_ROOT/apps" "$LATTICE_ROOT/tests" "$LATTICE_ROOT/fuzz" "$LATTICE_ROOT/bench" \
    "$LATTICE_ROOT/examples" "$LATTICE_ROOT/docs" "$LATTICE_ROOT/tools" "$LATTICE_ROOT/lattice" \
    "$LATTICE_ROOT/README.md" "$LATTICE_ROOT/CHANGELOG.md" "$LATTICE_ROOT/CONTRIBUTING.md" "$LATTICE_ROOT/SECURITY.md" \
    -newer "$1" 2>/dev/null | head -n 1)" ]
}

test_release() {
  stamp=$LATTICE_ROOT/build/release/.tests-passed
  if [ -n "$test_matrix$test_coverage" ] && [ -z "$test_filter$test_long" ] && ! tree_changed_since "$stamp"; then
    cat "$stamp.rows" >>"$summary/rows"
    cat "$stamp.skips" >>"$summary/skips"
    return 0
  fi
  if want_packages browser; then
    fetch_playwright || say "npm could not fetch playwright-core (build/browser/npm.log says why); no browser test"
  else
    say "no browser test: missing $wanted"
  fi
  want_packages conformance || say "no decoder of another language: missing $wanted"
  want_packages operate || say "deploy/ is checked in part: missing $wanted"
  want_packages languages || say "C# and TypeScript are not compared with C++: missing $wanted"
  want_packages docs || say "no test of the reference: missing $wanted"
  want_packages models || say "models are not explored: missing $wanted"
  want_packages shell || say "shell scripts are not checked: missing $wanted"
  want_packages dissector || say "no test of the Wireshark dissector: missing $wanted"
  rm -f "$stamp"
  touch "$summary/started"
  build_for_test release || return 0
  run_ctest release 'all tests'
  if [ -z "$test_filter$test_long" ] && ! [ -s "$summary/fails" ]; then
    # The stamp has the time at which the build began, so that an edit made meanwhile counts as a change.
    cp -p "$summary/started" "$stamp"
    sed 's/|all tests|/|all tests (unchanged since passed)|/' "$summary/rows" >"$stamp.rows"
    cp "$summary/skips" "$stamp.skips"
  fi
}

# Prints the files that use threads. Only programs with threads can have races, and the core starts no threads.
threaded_files() {
  grep -rlE --include=*.cpp --include=*.h --include=CMakeLists.txt \
    '#include <thread>|std::j?thread|pthread_create|Threads::Threads' \
    "$LATTICE_ROOT/src" "$LATTICE_ROOT/apps" "$LATTICE_ROOT/game-sim" "$LATTICE_ROOT/tests" \
    "$LATTICE_ROOT/bench" 2>/dev/null
}

# Builds Lattice as a part of another project, in both ways, with the build types that the presets do not cover: those
# are RelWithDebInfo with both compilers, and Debug with clang. Each build compiles the library alone, anew. gcc's Release
# has the options that the preset gives the library, so it waits for --long, as do further mixtures.
guest_builds='
gcc g++ Debug add_subdirectory
clang-14 clang++-14 MinSizeRel FetchContent
'
guest_builds_long='
gcc g++ Release FetchContent
gcc g++ MinSizeRel add_subdirectory
clang-14 clang++-14 Release add_subdirectory
'

run_guests() {
  started=$(date +%s)
  guests_passed=0 guests_failed=0 guests_skipped=0
  make_folder "$LATTICE_ROOT/build/guests"
  [ -z "$test_long" ] || guest_builds=$guest_builds$guest_builds_long
  while read -r c_compiler cxx_compiler build_type way; do
    [ -n "$way" ] || continue
    if ! have "$cxx_compiler"; then
      add_skip guests "$c_compiler $build_type" "$cxx_compiler is not installed"
      guests_skipped=$((guests_skipped + 1))
      continue
    fi
    progress "guests: $c_compiler $build_type by $way"
    guest_log=$LATTICE_ROOT/build/guests/$c_compiler-$build_type.log
    if CMAKE=cmake CC=$c_compiler CXX=$cxx_compiler WORK=$LATTICE_ROOT/build/guests \
      CMAKE_BUILD_PARALLEL_LEVEL=$build_jobs \
      sh "$LATTICE_ROOT/tests/consumer/check_consumer.sh" build_guest "$build_type" "$way" >"$guest_log" 2>&1 </dev/null
    then
      guests_passed=$((guests_passed + 1))
    else
      guests_failed=$((guests_failed + 1))
      clear_progress
      tail -n 25 "$guest_log" >&2
      add_fail guests "$c_compiler $build_type by $way (${guest_log#"$LATTICE_ROOT"/})"
    fi
  done <<LIST
$guest_builds
LIST
  clear_progress
  add_row guests 'part of another project' "$guests_passed" "$guests_failed" "$guests_skipped" $(($(date +%s) - started))
}

# Compiles the library for targets on which it does not run yet.
run_portable() {
  for target in wasm32 mingw64; do
    if ! want_packages "portable_$target"; then
      add_skip portable "$target" "missing packages: $wanted"
      add_row portable "$target (packages missing)" 0 0 1 0
      continue
    fi
    progress "portable: $target"
    started=$(date +%s)
    portable_log=$LATTICE_ROOT/build/portable/$target.log
    make_folder "$LATTICE_ROOT/build/portable/$target"
    if sh "$LATTICE_ROOT/tests/portable/check_portable.sh" "$LATTICE_ROOT" "$target" \
      "$LATTICE_ROOT/build/portable/$target" "$build_jobs" >"$portable_log" 2>&1 </dev/null
    then
      clear_progress
      add_row portable "compiles for $target" 1 0 0 $(($(date +%s) - started))
    else
      clear_progress
      tail -n 25 "$portable_log" >&2
      add_fail portable "$target (${portable_log#"$LATTICE_ROOT"/})"
      add_row portable "compiles for $target" 0 1 0 $(($(date +%s) - started))
    fi
  done
}

run_matrix() {
  # Sanitized and unoptimized builds are several times slower, so simulations run fewer seeds, and properties fewer
  # cases.
  LATTICE_SIM_SEEDS=${LATTICE_SIM_SEEDS:-12}
  RC_PARAMS=${RC_PARAMS:-max_success=40}
  export LATTICE_SIM_SEEDS RC_PARAMS
  # One build for all: clang's warnings, the sanitizers, validation and the fuzzing.
  if ! want_packages matrix; then
    add_skip clang 'the whole build' "missing packages: $wanted"
    add_row clang 'clang 14 (packages missing)' 0 0 1 0
  elif build_for_test clang; then
    # once: what is no test of the library's own build
    run_ctest clang 'clang 14, address + undefined, libFuzzer' -LE 'browser|perf|once'
  fi
  if [ -z "$test_filter" ]; then
    run_guests
    run_portable
  fi
  if [ -z "$(threaded_files)" ]; then
    add_skip tsan 'the whole build' 'no program or test here starts a thread'
    add_row tsan 'thread sanitizer (no threads)' 0 0 1 0
  elif build_for_test tsan thread_tests; then
    run_ctest tsan 'gcc, thread' -L threads
    grep -q ' Test *#' "$LATTICE_ROOT/build/tsan/ctest.log" ||
      add_skip tsan 'test run' 'no test is labelled "threads"'
  fi
}

# Operators install build/optimized, so its library has to pass as well. The long variants have run in build/release.
run_optimized() {
  build_optimized all
  unlock_build
  (
    unset LATTICE_TEST_LONG
    run_ctest optimized 'gcc, by a profile' -LE 'browser|perf|once'
  )
}

run_tests() {
  while [ $# -gt 0 ]; do
    case $1 in
      --matrix) test_matrix=1 ;;
      --long) test_long=1 ;;
      --coverage) test_coverage=1 ;;
      --filter)
        [ $# -ge 2 ] || die 2 "--filter needs a regular expression." "Example: ./lattice test --filter wire"
        test_filter=$2
        shift
        ;;
      --filter=*) test_filter=${1#--filter=} ;;
      *) die 2 "test does not know '$1'." "./lattice test --help lists its options." ;;
    esac
    shift
  done
  if [ -n "$test_long" ]; then
    LATTICE_TEST_LONG=1
    export LATTICE_TEST_LONG
  fi
  need_packages core
  summary_begin
  test_release
  [ -z "$test_long" ] || run_optimized
  [ -z "$test_matrix" ] || run_matrix
  [ -z "$test_coverage" ] || run_coverage
  summary_end
}
