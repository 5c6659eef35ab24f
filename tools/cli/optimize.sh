# Builds build/optimized, which is laid out by a profile. Sourced by ./lattice after packages.sh and build.sh.

profile_folder=$LATTICE_ROOT/build/record/profile
# What the profile is recorded from: short runs of these benches.
profile_benches='replication transport serialize'

# Another version of GCC cannot read the profile of this one.
compiler_version() { g++ -dumpfullversion 2>/dev/null || echo unknown; }

# profile_is_current: true when a profile of this compiler exists that is not older than the library.
profile_is_current() {
  recorded=$profile_folder/.recorded
  [ -e "$recorded" ] && [ "$(cat "$recorded")" = "$(compiler_version)" ] &&
    [ -z "$(find "$LATTICE_ROOT/CMakeLists.txt" "$LATTICE_ROOT/CMakePresets.json" "$LATTICE_ROOT/cmake" \
      "$LATTICE_ROOT/include" "$LATTICE_ROOT/src" -newer "$recorded" 2>/dev/null | head -n 1)" ]
}

# record_profile: builds the library with counters, and lets the benches run with it.
record_profile() {
  configure record
  if profile_is_current; then
    unlock_build
    return 0
  fi
  compiler_version >"$LATTICE_ROOT/build/record/.begun"
  build record bench/all
  rm -rf "$profile_folder"
  make_folder "$profile_folder"
  for profile_bench in $profile_benches; do
    progress "recording a profile: bench $profile_bench"
    log=$LATTICE_ROOT/build/record/$profile_bench.log
    if ! "$LATTICE_ROOT/build/record/$bench" "$profile_bench" --quick >"$log" 2>&1 </dev/null 9>&-; then
      clear_progress
      tail -n 25 "$log" >&2
      die 1 "the bench $profile_bench did not run, so there is no profile." "Whole log: build/record/$profile_bench.log"
    fi
  done
  clear_progress
  # The time at which the build began, so that an edit made meanwhile counts as a change.
  mv "$LATTICE_ROOT/build/record/.begun" "$profile_folder/.recorded"
  unlock_build
}

# build_optimized TARGET...: builds them in build/optimized. Keeps the lock of that folder.
build_optimized() {
  record_profile
  configure optimized
  # Objects depend on the profile, and ninja does not know it.
  used=$LATTICE_ROOT/build/optimized/.profile-used
  if [ ! -e "$used" ] || [ -n "$(find "$profile_folder/.recorded" -newer "$used")" ]; then
    find "$LATTICE_ROOT/build/optimized" -path '*/lattice_*.dir/*' -name '*.o' -exec rm -f {} +
    touch -r "$profile_folder/.recorded" "$used"
  fi
  build optimized "$@"
}

run_optimize() {
  for argument in "$@"; do
    die 2 "optimize does not know '$argument'." "./lattice optimize --help shows how."
  done
  need_packages core
  build_optimized lattice lattice_static apps/all
  unlock_build
  say "built build/optimized: liblattice.so, liblattice.a and the programs in apps."
  say "for a build of your own: -DLATTICE_PROFILE=$profile_folder"
}
