# Configure and build one CMake preset into build/<preset>. Sourced by ./lattice.

build_jobs=${LATTICE_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}

# One build of a directory at a time; ninja itself does not lock.
lock_build() {
  mkdir -p "$LATTICE_ROOT/build/$1"
  have flock || return 0
  exec 9>"$LATTICE_ROOT/build/$1/.lattice.lock"
  if ! flock -n 9; then
    say "another build of build/$1 is running; waiting for it"
    flock 9
  fi
}
unlock_build() { exec 9>&-; }

# configure PRESET
configure() {
  preset=$1
  directory=$LATTICE_ROOT/build/$preset
  lock_build "$preset"
  if [ -f "$directory/CMakeCache.txt" ] &&
    ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$LATTICE_ROOT" "$directory/CMakeCache.txt"; then
    # The tree was moved or copied; a cache of another place cannot be reused.
    rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles" "$directory/layers"
  fi
  if [ -f "$directory/build.ninja" ] && [ -f "$directory/CMakeCache.txt" ] &&
    [ -z "$(find "$LATTICE_ROOT/CMakePresets.json" -newer "$directory/build.ninja")" ]; then
    return 0
  fi
  set --
  if have ccache; then
    set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  progress "configuring build/$preset"
  log=$directory/configure.log
  if ! (cd "$LATTICE_ROOT" && cmake --preset "$preset" "$@") >"$log" 2>&1 </dev/null; then
    clear_progress
    tail -n 25 "$log" >&2
    die 1 "CMake could not configure build/$preset." "Whole log: build/$preset/configure.log"
  fi
  clear_progress
}

has_target() { ninja -C "$LATTICE_ROOT/build/$1" -t query "$2" >/dev/null 2>&1; }

# Copies ninja's output to a log; shows one overwritten line on a terminal, every line otherwise.
show_build() {
  while IFS= read -r line; do
    printf '%s\n' "$line" >&8
    case $line in
      '['*/*']'*) if [ -t 2 ]; then progress "build/$1 $line"; else printf '%s\n' "$line" >&2; fi ;;
      *) [ -t 2 ] || printf '%s\n' "$line" >&2 ;;
    esac
  done
}

# try_build PRESET [TARGET...]: true when it built.
try_build() {
  preset=$1
  shift
  directory=$LATTICE_ROOT/build/$preset
  log=$directory/build.log
  started=$(date +%s)
  exec 8>"$log"
  {
    ninja -C "$directory" -j "$build_jobs" "$@" 2>&1 </dev/null 8>&- 9>&-
    echo $? >"$directory/.build-status"
  } | show_build "$preset"
  exec 8>&-
  clear_progress
  status=$(cat "$directory/.build-status")
  if [ "$status" = 0 ]; then
    elapsed=$(($(date +%s) - started))
    [ "$elapsed" -lt 5 ] || say "built build/$preset in ${elapsed} s"
    return 0
  fi
  # From the first failed command on: what came before it compiled.
  if [ -t 2 ]; then
    { sed -n '/^FAILED:/,$p' "$log" || true; } | head -n 60 >&2
    grep -q '^FAILED:' "$log" || tail -n 25 "$log" >&2
  fi
  return 1
}

build() {
  built=$1
  try_build "$@" || die 1 "build/$built did not build." "Whole log: build/$built/build.log"
}
