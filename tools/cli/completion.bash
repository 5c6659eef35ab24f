# Completion of ./lattice for bash: source <(./lattice completion bash)
# The words come from the front door itself, so there is no list here to fall behind.
_lattice() {
  local words IFS=$'\n'
  words=$("${COMP_WORDS[0]/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _lattice lattice
