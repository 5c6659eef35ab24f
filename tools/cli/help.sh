# Help, lists and completion, from the texts in tools/cli/help. Sourced by ./lattice. Nothing here builds or installs.
#
# help/NAME.txt is the help of one command. tools/cli/update_help.sh writes the texts of programs, and tests/frontdoor
# compares them with the programs' output. So a fresh clone can answer before anything is compiled.

help_folder=$LATTICE_ROOT/tools/cli/help

print_help() { cat "$help_folder/$1.txt"; }

# listed_names NAME: prints the first word of each line of the list "Commands:" in the text NAME.
listed_names() { sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' "$help_folder/$1.txt"; }
command_names() { listed_names help; }
bench_names() { sed 's/ .*//' "$help_folder/bench-list.txt"; }

# options_of NAME: prints the options that the text NAME explains.
options_of() {
  sed -n 's/^  *\(--[a-z][a-z-]*\).*/\1/p' "$help_folder/$1.txt" | sort -u
  echo --help
}
# valued_options_of NAME: prints those of its options that take a value.
valued_options_of() { sed -n 's/^  *\(--[a-z][a-z-]*\) [A-Z].*/\1/p' "$help_folder/$1.txt" | sort -u; }

print_version() {
  version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' "$LATTICE_ROOT/CMakeLists.txt")
  abi=$(sed -n 's/^#define LATTICE_ABI_VERSION \([0-9]*\).*/\1/p' "$LATTICE_ROOT"/include/lattice/*.h)
  printf 'lattice %s (ABI %s)\n' "$version" "$abi"
}

# answer_without_building NAME PROGRAM ARGUMENTS...: prints and exits when the arguments ask for help or the version.
# Refuses an option that the text NAME does not explain. For --help-all it runs PROGRAM, if that is built; PROGRAM may
# be ''.
answer_without_building() {
  name=$1 program=$LATTICE_ROOT/build/release/$2
  shift 2
  for argument in "$@"; do
    case $argument in
      --help | -h)
        print_help "$name"
        exit 0
        ;;
      --help-all)
        [ ! -f "$program" ] || exec "$program" "$@"
        print_help "$name"
        say "once the program is built, this also shows ranges and environment variables"
        exit 0
        ;;
      --version)
        print_version
        exit 0
        ;;
      --*)
        # shellcheck disable=SC2046 # a list of options
        contains "${argument%%=*}" $(options_of "$name") ||
          die 2 "$command does not know '$argument'.$(did_you_mean "${argument%%=*}" $(options_of "$name"))" \
            "./lattice $command --help lists its options."
        ;;
    esac
  done
}

# require_bench_name ARGUMENTS...: sets bench_name to the first argument that is neither an option nor the value of one.
# Exits when that is not the name of a bench.
require_bench_name() {
  names=$(bench_names)
  while [ $# -gt 0 ]; do
    # shellcheck disable=SC2046,SC2086 # lists of names
    case $1 in
      -*) if contains "$1" $(valued_options_of bench) && [ $# -gt 1 ]; then shift; fi ;;
      *)
        bench_name=$1
        contains "$1" $names && return 0
        die 2 "there is no bench '$1'.$(did_you_mean "$1" $names)" "./lattice bench --list shows them."
        ;;
    esac
    shift
  done
  die 2 "bench needs the name of a bench." "./lattice bench --list shows them."
}

# require_token_word ARGUMENTS...: exits unless the first argument is a command of the token tool.
require_token_word() {
  words=$(listed_names token)
  # shellcheck disable=SC2086 # a list of names
  case ${1:-} in
    --help | -h)
      print_help token
      exit 0
      ;;
    '') die 2 "token needs one of: $(printf '%s ' $words)" "./lattice token --help says what they do." ;;
    *)
      contains "$1" $words ||
        die 2 "token does not know '$1'.$(did_you_mean "$1" $words)" "./lattice token --help says what it knows."
      ;;
  esac
}

# completion_words WORD...: prints the words that may follow these words, for tools/cli/completion.bash.
completion_words() {
  case ${1:-} in
    '') command_names && echo --help && echo --version ;;
    help) command_names ;;
    completion) echo bash ;;
    bench) bench_names && options_of bench ;;
    token) if [ $# -gt 1 ] && [ -e "$help_folder/token-$2.txt" ]; then options_of "token-$2"; else listed_names token; fi ;;
    demo | test | optimize | capture | docs | doctor) options_of "$1" ;;
  esac
}

run_completion() {
  case ${1:-} in
    bash) cat "$LATTICE_ROOT/tools/cli/completion.bash" ;;
    words)
      shift
      completion_words "$@"
      ;;
    --help | -h) print_help completion ;;
    '') die 2 "completion needs the name of a shell." "./lattice completion --help shows how." ;;
    *) die 2 "there is no completion for '$1'." "There is one for bash." ;;
  esac
}
