# The Debian packages that each job needs, and how they are installed. Sourced by ./lattice.
# A package counts as present when its test finds it, not when dpkg knows it: node may come from elsewhere.
# shellcheck disable=SC2034,SC2154 # missing_packages reads the sets by name

# Lines of "package test argument". The test is: command NAME, header PATH, or file GLOB.
packages_core='
g++ command g++
cmake command cmake
ninja-build command ninja
pkg-config command pkg-config
libsodium-dev header sodium.h
libgtest-dev header gtest/gtest.h
librapidcheck-dev header rapidcheck.h
nlohmann-json3-dev header nlohmann/json.hpp
libboost1.81-dev header boost/beast/version.hpp
libtomlplusplus-dev header toml++/toml.h
libcli11-dev header CLI/CLI.hpp
prometheus-cpp-dev header prometheus/text_serializer.h
'
packages_bench_transport='
libenet-dev header enet/enet.h
'
packages_bench_serialize='
libprotobuf-dev header google/protobuf/message.h
protobuf-compiler command protoc
libflatbuffers-dev header flatbuffers/flatbuffers.h
flatbuffers-compiler command flatc
'
packages_browser='
chromium command chromium
nodejs command node
npm command npm
'
packages_conformance='
python3 command python3
python3-cryptography file /usr/lib/python3/dist-packages/cryptography*
'
packages_dissector='
tshark command tshark
'
packages_languages='
mono-mcs command mcs
mono-runtime command mono
nodejs command node
node-typescript command tsc
'
packages_docs='
doxygen command doxygen
'
packages_models='
spin command spin
'
packages_shell='
shellcheck command shellcheck
'
packages_operate='
prometheus command promtool
systemd command systemd-analyze
'
packages_coverage='
gcovr command gcovr
'
packages_matrix='
clang-14 command clang++-14
libclang-rt-14-dev file /usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.fuzzer-*.a
'
packages_portable_wasm32='
clang-19 command clang++-19
wasi-libc file /usr/include/wasm32-wasi/stdio.h
libc++-19-dev-wasm32 file /usr/lib/llvm-19/include/wasm32-wasi/c++/v1/__config*
'
packages_portable_mingw64='
g++-mingw-w64-x86-64-posix command x86_64-w64-mingw32-g++-posix
'

package_present() {
  case $2 in
    command) have "$3" ;;
    header) [ -e "/usr/include/$3" ] || [ -e "/usr/local/include/$3" ] ;;
    file)
      # shellcheck disable=SC2086 # the glob is the point
      set -- $3
      [ -e "$1" ]
      ;;
  esac
}

# missing_packages SET...: prints the missing packages of the sets on one line.
missing_packages() {
  missing=''
  for set_name in "$@"; do
    eval "table=\$packages_$set_name"
    while read -r package test argument; do
      [ -n "$package" ] || continue
      package_present "$package" "$test" "$argument" || missing="$missing $package"
    done <<LIST
$table
LIST
  done
  printf '%s' "${missing# }"
}

apt_line() { printf 'sudo apt-get update && sudo apt-get install -y --no-install-recommends %s' "$*"; }

# Prints the prefix that runs a command as root; fails when there is none.
root_prefix() {
  if [ "$(id -u)" = 0 ]; then
    printf ''
  elif have sudo && sudo -n true 2>/dev/null; then
    printf 'sudo -n'
  else
    return 1
  fi
}

apt_lists_stale() {
  [ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mtime -1 2>/dev/null | head -n 1)" ]
}

# install_packages LOG PACKAGE...: true when apt installed them all.
install_packages() {
  log=$1
  shift
  prefix=$(root_prefix) || return 1
  # `env` sets the variable after sudo, which drops variables. With it, no package stops to ask a question.
  apt="$prefix env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=500"
  : >"$log"
  if apt_lists_stale; then $apt update >>"$log" 2>&1 </dev/null; fi
  $apt install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null && return 0
  # A package list younger than a day may still name versions that the mirror no longer has.
  $apt update >>"$log" 2>&1 </dev/null
  $apt install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
}

may_install() { [ -z "${LATTICE_NO_INSTALL:-}" ] && have apt-get && root_prefix >/dev/null; }

# need_packages SET...: installs the missing packages, or exits with code 5.
need_packages() {
  wanted=$(missing_packages "$@")
  [ -n "$wanted" ] || return 0
  if ! may_install; then
    die 5 "these packages are missing: $wanted" "Run: $(apt_line "$wanted")"
  fi
  say "installing $wanted"
  make_folder "$LATTICE_ROOT/build"
  log=$LATTICE_ROOT/build/packages.log
  # shellcheck disable=SC2086 # a list of package names
  if ! install_packages "$log" $wanted; then
    tail -n 15 "$log" >&2
    die 5 "apt-get could not install: $wanted (whole log: build/packages.log)" "Run: $(apt_line "$wanted")"
  fi
  wanted=$(missing_packages "$@")
  [ -z "$wanted" ] || die 5 "installed, yet still not usable: $wanted" "Run: ./lattice doctor"
}

# want_packages SET...: like need_packages, but returns 1 instead of exiting. `wanted` then names the missing packages.
want_packages() {
  wanted=$(missing_packages "$@")
  [ -n "$wanted" ] || return 0
  may_install || return 1
  say "installing $wanted"
  make_folder "$LATTICE_ROOT/build"
  # shellcheck disable=SC2086
  install_packages "$LATTICE_ROOT/build/packages-optional.log" $wanted || return 1
  wanted=$(missing_packages "$@")
  [ -z "$wanted" ]
}
