# ./lattice docs. Sourced by ./lattice after packages.sh.

run_docs() {
  [ $# = 0 ] || die 2 "docs takes no argument '$1'." "Run: ./lattice docs"
  make_folder "$LATTICE_ROOT/build"
  need_packages docs
  progress 'writing build/docs'
  sh "$LATTICE_ROOT/tools/docs/build_site.sh" "$LATTICE_ROOT" "$LATTICE_ROOT/build/docs" ||
    die 1 'the documents have the faults above.' 'Correct them, then run ./lattice docs again.'
  clear_progress
  printf '%s\n' "$LATTICE_ROOT/build/docs/index.html"
}
