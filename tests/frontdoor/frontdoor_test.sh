#!/bin/sh
# The front door in a copy of its own: frontdoor_test.sh TREE
#
# The copy has only what ./lattice reads. PATH has links to a few harmless tools, and stand-ins for whatever compiles,
# installs or fetches; each notes that it was called. Headers are looked for in the copy. So a call that should not have
# happened is in $calls, and nothing of the machine changes.
set -eu
tree=$1
sandbox=$(mktemp -d)
trap 'chmod -R u+w "$sandbox" 2>/dev/null; rm -rf "$sandbox"' EXIT
calls=$sandbox/calls
tools=$sandbox/tools
copy=$sandbox/lattice
export CALLS="$calls"
unset LATTICE_JOBS LATTICE_NO_INSTALL NO_COLOR

fail() {
  echo "FAILED: $1" >&2
  [ ! -s "$sandbox/out" ] || sed 's/^/  | /' "$sandbox/out" >&2
  exit 1
}

# ---- The copy and its tools ---------------------------------------------------------------------------------------

stand_in() { # NAME BODY
  # shellcheck disable=SC2016 # expanded when the stand-in runs
  printf '#!/bin/sh\necho "%s $*" >>"$CALLS"\n%s\n' "$1" "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}

make_tools() {
  rm -rf "$tools"
  mkdir -p "$tools"
  for tool in sh awk sed grep cat mkdir rm cp mv ln ls find head tail cut sort uniq date readlink dirname basename id \
    tr wc getconf uname touch chmod flock env sleep printf mktemp bash script timeout setpriv; do
    path=$(command -v "$tool" 2>/dev/null) || continue
    case $path in /*) ln -s "$path" "$tools/$tool" ;; esac
  done
  for tool in g++ gcc cc c++ clang++-14 pkg-config ctest npm node curl wget sudo; do stand_in "$tool" ''; done
  # shellcheck disable=SC2016 # expanded when the stand-in runs
  stand_in cmake '
    case $1 in
      --version) echo "cmake version ${STANDIN_CMAKE:-3.25.1}" ;;
      --preset)
        mkdir -p "build/$2"
        echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt"
        touch "build/$2/build.ninja"
        ;;
    esac'
  # shellcheck disable=SC2016
  stand_in ninja '
    cd "$2"
    echo "[1/2] Building CXX object one.o"
    if [ -n "${STANDIN_BREAKS:-}" ]; then
      printf "[2/2] Building CXX object two.o\nFAILED: two.o\ntwo.cpp:1: error: no such luck\n"
      exit 1
    fi
    [ -z "${STANDIN_SLEEPS:-}" ] || sleep 30
    echo "[2/2] Linking CXX executable all"
    for program in apps/depot-demo/lattice-demo apps/lattice-tool/lattice-tool bench/lattice-bench; do
      mkdir -p "${program%/*}"
      printf "#!/bin/sh\necho \"ran ${program##*/} \$*\"\nexit \${STANDIN_EXIT:-0}\n" >"$program"
      chmod +x "$program"
    done'
  # shellcheck disable=SC2016
  stand_in apt-get '
    for word; do
      case $word in
        libenet-dev) mkdir -p "$HEADERS/enet" && : >"$HEADERS/enet/enet.h" ;;
        libprotobuf-dev) mkdir -p "$HEADERS/google/protobuf" && : >"$HEADERS/google/protobuf/message.h" ;;
        libflatbuffers-dev) mkdir -p "$HEADERS/flatbuffers" && : >"$HEADERS/flatbuffers/flatbuffers.h" ;;
      esac
    done'
}

fresh_copy() {
  rm -rf "$copy" "$sandbox/include" "$sandbox/out"
  mkdir -p "$copy/tools" "$copy/include"
  cp -R "$tree/lattice" "$tree/CMakeLists.txt" "$tree/CMakePresets.json" "$copy/"
  cp -R "$tree/tools/cli" "$copy/tools/"
  cp -R "$tree/include/lattice" "$copy/include/"
  export HEADERS="$sandbox/include"
  sed "s|/usr/include|$HEADERS|g; s|/usr/local/include|$HEADERS|g" "$tree/tools/cli/packages.sh" \
    >"$copy/tools/cli/packages.sh"
  sed -n "/^packages_core='/,/^'/s/.* header //p" "$tree/tools/cli/packages.sh" | while read -r header; do
    mkdir -p "$HEADERS/$(dirname "$header")"
    : >"$HEADERS/$header"
  done
  : >"$calls"
}

front_door() { (cd "$sandbox" && PATH=$tools TERM=dumb lattice/lattice "$@") </dev/null >"$sandbox/out" 2>&1; }

# expect CODE TEXT ARGUMENTS...: the exit code of ./lattice ARGUMENTS, and a piece of what it prints.
expect() {
  code=$1 text=$2
  shift 2
  got=0
  front_door "$@" || got=$?
  [ "$got" = "$code" ] || fail "./lattice $* ended with $got, not $code"
  grep -qF -e "$text" "$sandbox/out" || fail "./lattice $* does not say '$text'"
}

called() { grep -q "^$1" "$calls"; }

nothing_called() {
  [ ! -s "$calls" ] || fail "$1 called: $(cat "$calls")"
  [ ! -e "$copy/build" ] || fail "$1 made build/"
}

# on_terminal COMMAND: what ./lattice COMMAND writes to a terminal.
on_terminal() {
  (cd "$sandbox" && PATH=$tools TERM=xterm script -qec "lattice/lattice $1" /dev/null) </dev/null >"$sandbox/out" 2>&1 || true
}

escape=$(printf '\033')

# ---- What is checked ----------------------------------------------------------------------------------------------

words_never_compile() {
  fresh_copy
  # shellcheck disable=SC2013 # names without spaces
  for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$tree/tools/cli/help/help.txt"); do
    [ "$command" != help ] || continue
    expect 0 '' "$command" --help
    [ "$(wc -l <"$sandbox/out")" -gt 2 ] || fail "./lattice $command --help says nothing"
    cp "$sandbox/out" "$sandbox/help"
    expect 0 '' help "$command"
    cmp -s "$sandbox/out" "$sandbox/help" || fail "help $command is not $command --help"
  done
  expect 0 '--bots' demo --bots 3 -h
  expect 0 '--port' demo --help-all
  expect 0 'Commands:' help
  expect 0 'Commands:' --help
  expect 2 'Commands:'
  expect 0 'transport' bench --list
  version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
  expect 0 "lattice $version (ABI " --version
  expect 0 "lattice $version (ABI " demo --version
  expect 0 'complete ' completion bash
  nothing_called 'asking for words'
}

tokens_reach_the_tool() {
  fresh_copy
  # shellcheck disable=SC2013
  for word in $(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$copy/tools/cli/help/token.txt"); do
    expect 0 '--data-dir' token "$word" --help
  done
  expect 2 'token needs one of' token
  expect 2 "token does not know 'kyes'. Did you mean 'keys'?" token kyes
  expect 2 "token does not know '--data-dri'. Did you mean '--data-dir'?" token keys --data-dri x
  nothing_called 'asking for words'
  expect 0 'ran lattice-tool keys --data-dir here' token keys --data-dir here
  expect 0 'ran lattice-tool server-key' token server-key
  expect 0 'ran lattice-tool issue --client-key 00' token issue --client-key 00
}

mistyped_words_are_named() {
  fresh_copy
  expect 2 "no command 'dmo'. Did you mean 'demo'?" dmo
  expect 2 "no command 'qqqqqq'." qqqqqq
  ! grep -q 'Did you mean' "$sandbox/out" || fail 'it guesses wildly'
  expect 2 "no command 'tset'. Did you mean 'test'?" help tset
  expect 2 "no bench 'transprt'. Did you mean 'transport'?" bench transprt
  expect 2 "no bench 'codecs'. Did you mean 'codec'?" bench --reps 3 codecs
  expect 2 'needs the name of a bench' bench --quick
  expect 2 "does not know '--botz'. Did you mean '--bots'?" demo --botz 3
  expect 2 "does not know '--filtr'. Did you mean '--filter'?" test --filtr wire
  expect 2 "does not know '--jason'. Did you mean '--json'?" doctor --jason
  expect 2 'needs a regular expression' test --filter
  expect 2 'needs the file to write' capture
  expect 2 'no completion for' completion zsh
  nothing_called 'a mistyped word'
}

builds_are_quiet() {
  fresh_copy
  expect 0 'ran lattice-demo --bots 3' demo --bots 3
  [ "$(cat "$sandbox/out")" = 'ran lattice-demo --bots 3' ] || fail 'off a terminal a build is not silent'
  called 'cmake --preset release' || fail 'nothing was configured'
  : >"$calls"
  expect 0 'ran lattice-bench --json --quick codec' bench --json --quick codec
  called 'ninja -C .*bench/all' || fail 'the benches were not built'
  ! called 'cmake --preset' || fail 'it configures each time'
  export STANDIN_EXIT=4
  expect 4 'ran lattice-demo' demo
  unset STANDIN_EXIT
}

failed_builds_show_the_error() {
  fresh_copy
  export STANDIN_BREAKS=1
  expect 1 'no such luck' demo
  unset STANDIN_BREAKS
  grep -qF 'build/release/build.log' "$sandbox/out" || fail 'it does not name the log'
  ! grep -qF 'one.o' "$sandbox/out" || fail 'it shows what compiled'
}

terminals_get_one_line() {
  command -v script >/dev/null || return 0
  fresh_copy
  on_terminal demo
  grep -qF "${escape}[K" "$sandbox/out" || fail 'no progress on a terminal'
  grep -qF '[1/2]' "$sandbox/out" || fail 'the progress does not say how far it is'
  [ "$(wc -l <"$sandbox/out")" = 1 ] || fail 'progress takes more than one line'
  on_terminal dmo
  grep -qF "${escape}[31m" "$sandbox/out" || fail 'no colour on a terminal'
  NO_COLOR=1 && export NO_COLOR
  on_terminal dmo
  unset NO_COLOR
  ! grep -qE "$escape\\[[0-9]*m" "$sandbox/out" || fail 'NO_COLOR leaves colour'
}

causes_have_their_codes() {
  fresh_copy
  rm "$tools/ninja"
  export LATTICE_NO_INSTALL=1
  expect 5 'missing: ninja-build' demo
  grep -qF 'apt-get install' "$sandbox/out" || fail 'it does not say how to install'
  unset LATTICE_NO_INSTALL
  ! called apt-get || fail 'LATTICE_NO_INSTALL installs'
  make_tools
  export STANDIN_CMAKE=3.18.4
  expect 6 'cmake is 3.18; Lattice needs 3.25' demo
  export STANDIN_CMAKE=4.0.1
  expect 0 'ran lattice-demo' demo
  unset STANDIN_CMAKE
  export LATTICE_JOBS=many
  expect 3 "LATTICE_JOBS is 'many'" demo
  unset LATTICE_JOBS
  if command -v timeout >/dev/null; then
    got=0
    (cd "$sandbox" && PATH=$tools STANDIN_SLEEPS=1 timeout --preserve-status -s INT 2 lattice/lattice demo) \
      </dev/null >"$sandbox/out" 2>&1 || got=$?
    [ "$got" = 130 ] || fail "an interrupted build ended with $got, not 130"
  fi
}

trees_that_cannot_be_written() {
  fresh_copy
  : >"$copy/build"
  expect 4 'build cannot be written in' demo
  [ "$(wc -l <"$sandbox/out")" = 2 ] || fail 'not one sentence of cause and one of action'
  expect 4 'build cannot be written in' test
  # Root may write anywhere, so another user tries.
  fresh_copy
  chmod -R a+rX "$sandbox"
  chmod a+w "$sandbox" "$calls"
  chmod a-w "$copy"
  got=0
  set -- lattice/lattice demo
  if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || return 0
    set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  fi
  (cd "$sandbox" && PATH=$tools "$@") </dev/null >"$sandbox/out" 2>&1 || got=$?
  chmod u+w "$copy"
  [ "$got" = 4 ] || fail "a tree that cannot be written ended with $got, not 4"
  grep -qF 'Permission denied.' "$sandbox/out" || fail 'it does not name the cause'
}

# What is measured, and what operators install, is laid out by a profile. It is recorded when the library changed.
optimized_builds_follow_the_library() {
  fresh_copy
  recorded=$copy/build/record
  expect 0 'ran lattice-bench codec' bench codec
  called 'cmake --preset record' || fail 'nothing was built to record a profile'
  called 'cmake --preset optimized' || fail 'nothing was built by the profile'
  ! called 'cmake --preset release' || fail 'it builds what it does not measure'
  grep -qF 'ran lattice-bench replication --quick' "$recorded/replication.log" || fail 'no bench was recorded'
  : >"$calls"
  rm -f "$recorded/replication.log"
  expect 0 'built build/optimized' optimize
  called 'ninja -C .*optimized .*apps/all' || fail 'the programs were not built'
  ! called 'cmake --preset' || fail 'it configures each time'
  [ ! -e "$recorded/replication.log" ] || fail 'it records each time'
  mkdir -p "$copy/build/optimized/CMakeFiles/lattice_world.dir"
  object=$copy/build/optimized/CMakeFiles/lattice_world.dir/world.o
  : >"$object"
  expect 0 'built build/optimized' optimize
  [ -e "$object" ] || fail 'it compiles what has not changed'
  touch -d '+2 seconds' "$copy/CMakeLists.txt"
  expect 0 'built build/optimized' optimize
  [ -e "$recorded/replication.log" ] || fail 'the library changed, and the profile is the old one'
  [ ! -e "$object" ] || fail 'an object of the old profile is linked'
  STANDIN_EXIT=1
  export STANDIN_EXIT
  touch -d '+4 seconds' "$copy/CMakeLists.txt"
  expect 1 'build/record/replication.log' optimize
  unset STANDIN_EXIT
}

# A package that came after the tree was configured is looked for again.
competitors_are_installed() {
  fresh_copy
  expect 0 'ran lattice-demo' demo
  expect 0 'ran lattice-bench --quick codec' bench --quick codec
  ! called apt-get || fail 'bench codec installs a competitor'
  : >"$calls"
  expect 0 'ran lattice-bench --quick transport' bench --quick transport
  called 'apt-get .*install.* libenet-dev' || fail 'bench transport does not install ENet'
  called 'cmake --preset release' || fail 'ENet is installed and not looked for again'
  ! called 'apt-get .*install.* libprotobuf-dev' || fail "bench transport installs what bench serialize needs"
  : >"$calls"
  expect 0 'ran lattice-bench --quick serialize' bench --quick serialize
  called 'apt-get .*install.* libprotobuf-dev .*libflatbuffers-dev' || fail 'bench serialize does not install its own'
  : >"$calls"
  expect 0 'ran lattice-bench --quick transport' bench --quick transport
  [ "$(cat "$calls")" = "$(grep '^ninja' "$calls")" ] || fail 'it installs or configures each time'
}

# completed WORD...: what bash offers for the last of these words.
completed() {
  (cd "$copy" && PATH=$tools bash -c '
    . <(./lattice completion bash)
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _lattice
    echo "${COMPREPLY[*]}"' bash "$@") 2>"$sandbox/out"
}

bash_completes() {
  command -v bash >/dev/null || return 0
  fresh_copy
  [ "$(completed ./lattice de)" = demo ] || fail "'de' is not completed: $(completed ./lattice de)"
  [ "$(completed ./lattice bench tr)" = transport ] || fail "'bench tr' is not completed"
  [ "$(completed ./lattice demo --headl)" = --headless ] || fail "'demo --headl' is not completed"
  nothing_called 'completion'
}

make_tools
for check in words_never_compile tokens_reach_the_tool mistyped_words_are_named builds_are_quiet \
  failed_builds_show_the_error terminals_get_one_line causes_have_their_codes trees_that_cannot_be_written \
  optimized_builds_follow_the_library competitors_are_installed bash_completes; do
  $check
  echo "ok: $check"
done
