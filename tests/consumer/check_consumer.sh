#!/bin/sh
# Lattice in a stranger's hands. check_consumer.sh CHECK [ARGUMENT]
#   install BUILD            installs BUILD into an empty prefix, moves the prefix, looks at what is there
#   headers                  compiles each installed header alone
#   find_package LANGUAGES   builds and runs package/ against the moved prefix; LANGUAGES: C, or C;CXX
#   examples                 builds examples/ against the moved prefix and runs their self-tests
#   pkg_config               compiles with nothing but cc, c++ and pkg-config
#   guest                    configures guest/ and reads the command lines: nothing of ours in the user's
#   alone                    configures the tree as a user who installs it does
#   build_guest TYPE WAY     builds guest/ and runs it; TYPE: a CMAKE_BUILD_TYPE, WAY: add_subdirectory, FetchContent
# From the environment: CMAKE, CC, CXX, and WORK, a folder for everything made here.
set -eu
check=$1
shift
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
prefix=$WORK/moved/lattice

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# quietly COMMAND...: its output only when it fails.
quietly() { "$@" >"$WORK/$check.log" 2>&1 || { cat "$WORK/$check.log" >&2; fail "$*"; }; }

# fresh NAME: an empty folder.
fresh() {
  rm -rf "${WORK:?}/$1"
  mkdir -p "$WORK/$1"
}

configure() { quietly "$CMAKE" -G Ninja "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_CXX_COMPILER=$CXX" "$@"; }

# build_and_run FOLDER
build_and_run() {
  quietly "$CMAKE" --build "$1"
  quietly ctest --test-dir "$1" --output-on-failure --no-tests=error
}

# What every part of this project but the library needs; a guest may lack them all. Each file is a command of its own.
without_packages() {
  set -- "$@" -DLATTICE_UNITY=OFF
  for package in PkgConfig GTest rapidcheck Boost CLI11 nlohmann_json tomlplusplus Threads; do
    set -- "$@" "-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"
  done
  configure "$@"
}

# commands BUILD: "FILE<tab>COMMAND" of each compilation, from compile_commands.json.
commands() {
  awk -F'"' '/"command": / { command = $0 } /"file": / { print $4 "\t" command }' "$1/compile_commands.json"
}

# options_of BUILD FILE: the flags of one compilation that choose a language, a warning or a way to generate code.
options_of() {
  commands "$1" | awk -F'\t' -v file="$2" '$1 == file { print $2; exit }' | tr ' ' '\n' |
    grep -E '^-(W|f|std|D|O|g|m|pedantic)' | tr '\n' ' ' || true
}

# library_only BUILD [MORE]: the build compiles the library, and maybe the folder MORE, and is free of our warnings.
library_only() {
  commands "$1" | cut -f1 | grep -vE "^($tree/src|$here|${2:-$here})/" && fail "a guest compiles the files above"
  commands "$1" | grep "^$tree/src/" >"$WORK/$check.commands" || fail "the library is not built"
  ! grep -E -- ' -(W|pedantic)' "$WORK/$check.commands" || fail "a guest builds the library with our warnings"
  ! grep -vF -- '-ffp-contract=off' "$WORK/$check.commands" || fail "the library must not fuse multiply and add"
}

check_install() {
  fresh first
  rm -rf "$WORK/moved"
  quietly "$CMAKE" --install "$1" --prefix "$WORK/first/lattice"
  mkdir -p "$WORK/moved"
  mv "$WORK/first/lattice" "$prefix"
  version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
  for file in include/lattice/lattice.h include/lattice/authoring/networked.h lib/liblattice.a lib/liblattice.so \
    "lib/liblattice.so.$version" lib/pkgconfig/lattice.pc lib/cmake/Lattice/LatticeConfig.cmake \
    lib/cmake/Lattice/LatticeConfigVersion.cmake share/doc/lattice/LICENSE; do
    [ -e "$prefix/$file" ] || fail "cmake --install wrote no $file"
  done
  headers=$(cd "$tree/include" && find . -type f | sort)
  [ "$headers" = "$(cd "$prefix/include" && find . -type f | sort)" ] || fail 'not all headers are installed'
  soname=$(readelf -d "$prefix/lib/liblattice.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [ "$soname" = "liblattice.so.${version%.*}" ] || fail "the SONAME is '$soname'"
  [ -e "$prefix/lib/$soname" ] || fail "there is no file for the SONAME $soname"
  ! grep -rnF -e "$WORK" -e "$tree" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" ||
    fail 'the package names folders of the machine that built it'
  # In one static link the user's names and ours share one space: ours begin with lattice_ or lie in namespace lattice.
  # Weak symbols are instantiations of templates, which every program has.
  nm -g --defined-only "$prefix/lib/liblattice.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBRC]/ { print $3 }' |
    sort -u | grep -vE '^(lattice_|_Z(T[VIST]|Thn[0-9]+_)?N?K?7lattice)' && fail 'the archive defines the names above'
  return 0
}

check_headers() {
  sh "$tree/tests/layers/check_headers.sh" "$CC" "$CXX" "$prefix/include"
  # The C interface asks for no newer C++ than a game has; the C++ face says what it needs.
  echo '#include <lattice/lattice.h>' >"$WORK/old.cpp"
  quietly "$CXX" -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" "$WORK/old.cpp"
  echo '#include <lattice/lattice.hpp>' >"$WORK/old.cpp"
  "$CXX" -std=c++17 -fsyntax-only -I "$prefix/include" "$WORK/old.cpp" 2>&1 | grep -q 'lattice.hpp needs C++20' ||
    fail 'lattice.hpp does not say that it needs C++20'
}

check_find_package() {
  build=$WORK/find_package_$(printf '%s' "$1" | tr -dc '[:upper:]')
  rm -rf "$build"
  check=$(basename "$build")
  configure -S "$here/package" -B "$build" "-DCMAKE_PREFIX_PATH=$prefix" "-DLANGUAGE=$1"
  build_and_run "$build"
}

check_examples() {
  build=$WORK/examples
  rm -rf "$build"
  configure -S "$tree/examples" -B "$build" "-DCMAKE_PREFIX_PATH=$prefix"
  build_and_run "$build"
}

check_pkg_config() {
  fresh pkg_config
  cd "$WORK/pkg_config"
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  export PKG_CONFIG_PATH
  version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
  [ "$(pkg-config --modversion lattice)" = "$version" ] || fail 'lattice.pc has another version'
  ! pkg-config --libs lattice | grep -q sodium || fail 'a program linked to liblattice.so need not name libsodium'
  shared=$(pkg-config --cflags --libs lattice)
  # The linker takes liblattice.so where both lie in one folder, unless told the file.
  static=$(pkg-config --cflags --libs --static lattice | sed 's/-llattice/-l:liblattice.a/')
  # shellcheck disable=SC2086 # lists of options
  {
    quietly "$CC" -std=c17 "$here/hello.c" -o c_shared $shared
    quietly "$CXX" -std=c++20 "$here/hello.cpp" -o cxx_shared $shared
    quietly "$CC" -std=c17 "$here/hello.c" -o c_static $static
    quietly "$CXX" -std=c++20 "$here/hello.cpp" -o cxx_static $static
  }
  for program in c_shared cxx_shared; do LD_LIBRARY_PATH=$prefix/lib quietly "./$program"; done
  for program in c_static cxx_static; do quietly "./$program"; done
}

check_guest() {
  build=$WORK/guest
  rm -rf "$build"
  without_packages -S "$here/guest" -B "$build" "-DLATTICE_TREE=$tree"
  library_only "$build"
  options=$(options_of "$build" "$here/hello.c")
  [ -z "$options" ] || fail "the user's C is compiled with $options"
  options=$(options_of "$build" "$here/hello.cpp")
  case $options in
    '-std=gnu++20 ' | '') ;; # what the guest itself asked for
    *) fail "the user's C++ is compiled with $options" ;;
  esac
  options=$(options_of "$build" "$here/guest/simulation_code.cpp")
  [ "$options" = '-ffp-contract=off ' ] || fail "Lattice::simulation brings $options"
  ! grep -q 'file(INSTALL' "$build/lattice/cmake_install.cmake" || fail "installing the guest would install Lattice too"
}

check_alone() {
  build=$WORK/alone
  rm -rf "$build"
  without_packages -S "$tree" -B "$build"
  library_only "$build" "$tree/tools/latticec"
  grep -qx 'CMAKE_BUILD_TYPE:STRING=RelWithDebInfo' "$build/CMakeCache.txt" || fail 'the default build is not optimized'
}

check_build_guest() {
  fetch=OFF
  [ "$2" = add_subdirectory ] || fetch=ON
  build=$WORK/guest-$(basename "$CC")-$1
  mkdir -p "$build"
  # Where nothing is optimized, each file is compiled alone: it must not lean on what another one includes. Debug
  # information would double the time.
  unity=ON
  [ "$1" != Debug ] || unity=OFF
  set -- -S "$here/guest" -B "$build" "-DLATTICE_TREE=$tree" "-DCMAKE_BUILD_TYPE=$1" "-DBY_FETCHCONTENT=$fetch" \
    -DLATTICE_WARNINGS_AS_ERRORS=ON "-DLATTICE_UNITY=$unity" -DCMAKE_CXX_FLAGS_DEBUG=-O0
  if command -v ccache >/dev/null; then
    set -- "$@" -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  configure "$@"
  build_and_run "$build"
}

mkdir -p "$WORK"
"check_$check" "$@"
