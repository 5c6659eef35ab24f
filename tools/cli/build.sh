# Configures and builds one CMake preset into build/<preset>. Sourced by ./lattice.

build_jobs=${LATTICE_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
cmake_least=3.25

# lock_build PRESET: allows one build of a directory at a time, because ninja does not lock. unlock_build ends it.
lock_build() {
  make_folder "$LATTICE_ROOT/build"
  make_folder "$LATTICE_ROOT/build/$1"
  have flock || return 0
  exec 9>"$LATTICE_ROOT/build/$1/.lattice.lock"
  if ! flock -n 9; then
    say "another build of build/$1 is running; waiting for it"
    flock 9
  fi
}
unlock_build() { exec 9>&-; }

check_jobs() {
  case $build_jobs in
    '' | 0* | *[!0-9]*)
      die 3 "LATTICE_JOBS is '$build_jobs'; it has to be a whole number from 1." "Example: LATTICE_JOBS=4"
      ;;
  esac
}

require_cmake() {
  found=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
  [ "$(printf '%s\n' "$cmake_least" "$found" | sort -t. -k1,1n -k2,2n | head -n 1)" = "$cmake_least" ] ||
    die 6 "cmake is ${found:-of no known version}; Lattice needs $cmake_least or newer." \
      "Debian 12 has it. $(command -v cmake) came first in PATH."
}

# configure PRESET: runs CMake when the build directory needs it. Keeps the lock of the directory.
configure() {
  preset=$1
  directory=$LATTICE_ROOT/build/$preset
  check_jobs
  lock_build "$preset"
  if [ -f "$directory/CMakeCache.txt" ] &&
    ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$LATTICE_ROOT" "$directory/CMakeCache.txt"; then
    # The tree was moved or copied, and a cache of another place cannot be used again.
    rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles" "$directory/layers"
  fi
  # CMake remembers packages that it did not find. It finds a package installed since only when it runs again.
  lacking=$(missing_packages core bench_transport bench_serialize)
  if [ -f "$directory/build.ninja" ] && [ -f "$directory/CMakeCache.txt" ] &&
    [ -z "$(find "$LATTICE_ROOT/CMakePresets.json" -newer "$directory/build.ninja")" ] &&
    [ "$lacking" = "$(cat "$directory/.lacking" 2>/dev/null)" ]; then
    return 0
  fi
  require_cmake
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
  printf '%s\n' "$lacking" >"$directory/.lacking"
  clear_progress
}

# show_build PRESET: copies ninja's output to a log (descriptor 8), and to one overwritten line of a terminal.
show_build() {
  while IFS= read -r line; do
    printf '%s\n' "$line" >&8
    case $line in
      '['*/*']'*) progress "build/$1 $line" ;;
    esac
  done
}

# try_build PRESET [TARGET...]: builds; true on success. On failure shows the errors.
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
    if [ -t 2 ] && [ "$elapsed" -ge 5 ]; then say "built build/$preset in ${elapsed} s"; fi
    return 0
  fi
  # Shows the log from the first failed command on: the commands before it succeeded.
  if grep -q '^FAILED:' "$log"; then
    sed -n '/^FAILED:/,$p' "$log" | head -n 60 >&2
  else
    tail -n 25 "$log" >&2
  fi
  return 1
}

build() {
  built=$1
  try_build "$@" || die 1 "build/$built did not build." "Whole log: build/$built/build.log"
}
