#!/bin/sh
# Checks that the Markdown of this tree points at things that exist: check_docs.sh TREE
# shellcheck disable=SC2013,SC2016 # paths here have no spaces; backticks are text
# - relative links, and #anchors of headings in linked Markdown files;
# - paths in backticks that start with a folder of this tree ("src/base/ring.h", "tests/layers");
# - ./lattice commands and options named in backticks or code blocks are in ./lattice --help;
# - public headers name only documents that are in this tree;
# - no two decisions have one number, and no two rules of docs/spec;
# - CHANGELOG.md has an Unreleased section or this version's.
set -eu
cd "$1"
problems=$(mktemp)
trap 'rm -f "$problems"' EXIT

complain() { printf '%s\n' "$*" | tee -a "$problems"; }

# GitHub's rule: lower case, punctuation gone, spaces to hyphens.
anchors() {
  sed -n '/^```/,/^```/!s/^##* *//p' "$1" | tr '[:upper:]' '[:lower:]' | sed "s/[^a-z0-9 _-]//g; s/ /-/g"
}

markdown=$(find . \( -path ./build -o -path ./.git -o -name node_modules \) -prune -o -name '*.md' -type f -print | LC_ALL=C sort)
for file in $markdown; do
  folder=$(dirname "$file")
  for link in $(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//'); do
    case $link in
      http://* | https://* | mailto:*) continue ;;
    esac
    path=${link%%#*}
    target=$file
    if [ -n "$path" ]; then
      target=$folder/$path
      [ -e "$target" ] || { complain "$file: link to $link leads nowhere"; continue; }
    fi
    case $link in
      *.md\#* | \#*)
        anchors "$target" | grep -qxF "${link#*#}" || complain "$file: no heading for $link"
        ;;
    esac
  done
  for path in $(grep -oE '`[^` ]+`' "$file" | tr -d '`' |
    grep -E '^(src|include|cmake|game-sim|apps|tests|fuzz|bench|docs|tools)/' | grep -vE '[<>*{]|\.\.\.|…'); do
    [ -e "${path%:*}" ] || complain "$file: \`$path\` does not exist"
  done
  for command in $(grep -oE '\./lattice [a-z]+' "$file" | sort -u | sed 's|^\./lattice ||'); do
    ./lattice help | grep -qE "^  $command " || complain "$file: ./lattice has no command $command"
  done
  for option in $(grep -oE '\./lattice test [^`#|]*' "$file" | grep -oE -- '--[a-z]+' | sort -u); do
    ./lattice help | grep -qF -- "$option" || complain "$file: ./lattice test has no option $option"
  done
done

for number in $(find docs/decisions -name '[0-9]*.md' | sed 's|.*/\([0-9]*\)-.*|\1|' | sort | uniq -d); do
  complain "docs/decisions: two pages have the number $number"
done

# A rule begins a paragraph or a list item with its number.
for rule in $(cat docs/spec/*.md 2>/dev/null | grep -oE '^(- )?[A-Z]-[0-9]+ ' | tr -d -- ' ' | sed 's/^-//' | sort | uniq -d); do
  complain "docs/spec: two rules have the number $rule"
done

for header in $(find include -name '*.h' -o -name '*.hpp'); do
  for path in $(grep -oE 'docs/[a-z/-]+\.md' "$header" | sort -u); do
    [ -e "$path" ] || complain "$header: $path does not exist"
  done
  grep -nE '§[0-9]|\([A-Z]-[0-9][0-9]\)' "$header" | while IFS= read -r line; do
    complain "$header:$line: cites a document that is not in this tree"
  done
done

version=$(sed -n 's/^project(lattice VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -qE "^## \[(Unreleased|$version)\]" CHANGELOG.md ||
  complain "CHANGELOG.md: neither Unreleased nor $version has a section"

[ ! -s "$problems" ] && echo "$(printf '%s\n' "$markdown" | wc -l) documents checked"
