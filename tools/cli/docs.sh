# ./lattice docs. Sourced by ./lattice after packages.sh.

run_docs() {
  case ${1:-} in
    '') ;;
    --help | -h)
      echo 'lattice docs: makes the guides and the reference of every function with Doxygen, in build/docs.'
      exit 0
      ;;
    *) die 2 "docs takes no argument '$1'." "Run: ./lattice docs" ;;
  esac
  need_packages docs
  progress 'writing build/docs'
  sh "$LATTICE_ROOT/tools/docs/build_site.sh" "$LATTICE_ROOT" "$LATTICE_ROOT/build/docs" ||
    die 1 'the documents have the faults above.' 'Correct them, then run ./lattice docs again.'
  clear_progress
  printf '%s\n' "$LATTICE_ROOT/build/docs/index.html"
}
