# Messages and exit. Sourced by ./lattice; expects LATTICE_ROOT.

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$(printf '\033[1m') red=$(printf '\033[31m') green=$(printf '\033[32m')
  yellow=$(printf '\033[33m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
  bold='' red='' green='' yellow='' dim='' plain=''
fi

# Progress for people: stderr, so that --json output stays alone on stdout.
say() { printf '%s\n' "${dim}lattice:${plain} $*" >&2; }

# die EXIT-CODE CAUSE [ACTION]
die() {
  clear_progress
  printf '%s\n' "${red}lattice:${plain} $2" >&2
  [ $# -lt 3 ] || printf '%s\n' "         $3" >&2
  exit "$1"
}

have() { command -v "$1" >/dev/null 2>&1; }

# One line that is overwritten, on a terminal only.
progress() {
  [ -t 2 ] || return 0
  printf '\r\033[K%s' "$(printf '%s' "$*" | cut -c1-"${progress_columns:-78}")" >&2
}
clear_progress() { if [ -t 2 ]; then printf '\r\033[K' >&2; fi; }

trap 'clear_progress; exit 130' INT
trap 'exit 143' TERM
