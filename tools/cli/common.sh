# Messages, exit, and suggestions for mistyped words. Sourced by ./lattice; expects LATTICE_ROOT.

if [ -t 2 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  red=$(printf '\033[31m') green=$(printf '\033[32m')
  yellow=$(printf '\033[33m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
  red='' green='' yellow='' dim='' plain=''
fi

# say TEXT...: prints a message for people to stderr, so that stdout holds only --json output.
say() { printf '%s\n' "${dim}lattice:${plain} $*" >&2; }

# die EXIT-CODE CAUSE [ACTION]: prints both sentences and exits.
die() {
  clear_progress
  printf '%s\n' "${red}lattice:${plain} $2" >&2
  [ $# -lt 3 ] || printf '%s\n' "         $3" >&2
  exit "$1"
}

have() { command -v "$1" >/dev/null 2>&1; }

# progress TEXT...: prints one line that the next one overwrites, on a terminal only.
progress() {
  [ -t 2 ] || return 0
  printf '\r\033[K%s' "$(printf '%s' "$*" | cut -c1-"${progress_columns:-78}")" >&2
}
clear_progress() { if [ -t 2 ]; then printf '\r\033[K' >&2; fi; }

trap 'clear_progress; exit 130' INT
trap 'exit 143' TERM

# make_folder FOLDER: makes a folder in the tree, or exits with the cause.
make_folder() {
  problem=$(LC_ALL=C mkdir -p "$1" 2>&1) && problem=$([ -w "$1" ] || echo ': Permission denied')
  [ -z "$problem" ] || die 4 "${1#"$LATTICE_ROOT"/} cannot be written in $LATTICE_ROOT: ${problem##*: }." \
    "Use a copy of the tree in a folder of yours, or take it over: sudo chown -R $(id -un) '$LATTICE_ROOT'"
}

# contains WORD CANDIDATE...: true when WORD is one of the candidates.
contains() {
  wanted_word=$1
  shift
  for candidate in "$@"; do
    [ "$candidate" != "$wanted_word" ] || return 0
  done
  return 1
}

# did_you_mean WORD CANDIDATE...: prints " Did you mean 'x'?" or nothing, by the rule of apps/common/suggest.h: the
# nearest candidate, at most two edits away, or a third of the word's length when that is more.
did_you_mean() {
  printf '%s\n' "$@" | awk '
    function distance(a, b,    i, j, row, diagonal, substituted, least) {
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        diagonal = row[0]
        row[0] = i
        for (j = 1; j <= length(b); j++) {
          substituted = diagonal + (substr(a, i, 1) != substr(b, j, 1))
          diagonal = row[j]
          least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1
          row[j] = substituted < least ? substituted : least
        }
      }
      return row[length(b)]
    }
    NR == 1 {
      given = $0
      best = int(length(given) / 3)
      best = (best > 2 ? best : 2) + 1
      next
    }
    {
      d = distance(given, $0)
      if (d < best) { best = d; name = $0 }
    }
    END { if (name != "") printf " Did you mean \047%s\047?", name }'
}
