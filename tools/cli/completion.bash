# Completion of ./lattice for bash: source <(./lattice completion bash)
# ./lattice itself gives the words, so no list here can be out of date.
_lattice() {
  local words IFS=$'\n'
  words=$("${COMP_WORDS[0]/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _lattice lattice
