# Makes Doxygen read our Markdown as GitHub does: awk -v root=TREE -f markdown_filter.awk FILE
#
# Doxygen does not know the anchors that GitHub makes of headings, takes every README.md for the main page, and looks
# for linked files beside its output. So this filter gives every heading an id of page and anchor. Links to Markdown
# become references to those ids. Other relative links lead from the output (build/docs) back into the tree. Pictures
# lose their folder (IMAGE_PATH finds them). HTML comments are removed: here they only name the sources of code.
# tests/docs/check_docs.sh checks the same links.

BEGIN {
  page = ARGV[1]
  sub("^" root "/", "", page)
  folder = page
  if (!sub("/[^/]*$", "", folder)) folder = ""
}

# The id of a page: docs/guide/limits.md is docs_guide_limits.
function id_of(path) {
  if (path == "README.md") return "mainpage"
  sub(/\.md$/, "", path)
  gsub(/[^A-Za-z0-9]/, "_", path)
  return path
}
# GitHub's rule: lower case, punctuation gone, spaces to hyphens.
function anchor_of(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}
# The path from the top of the tree to `path`, which is relative to this page.
function from_root(path, parts, kept, n, i, count, out) {
  n = split((folder == "" ? "" : folder "/") path, parts, "/")
  count = 0
  for (i = 1; i <= n; ++i) {
    if (parts[i] == ".." && count > 0) --count
    else if (parts[i] != "." && parts[i] != "") kept[++count] = parts[i]
  }
  out = kept[1]
  for (i = 2; i <= count; ++i) out = out "/" kept[i]
  return out
}
function target(link, path, anchor) {
  if (link ~ /^[a-z]+:/) return link
  path = link
  anchor = ""
  if (match(link, /#/)) {
    path = substr(link, 1, RSTART - 1)
    anchor = "-" substr(link, RSTART + 1)
  }
  path = path == "" ? page : from_root(path)
  if (path ~ /\.(svg|png|gif|webp)$/) {
    sub(/.*\//, "", path)
    return path
  }
  if (path ~ /\.md$/) return "@ref " id_of(path) anchor
  return "../../" path
}
function with_links(line, out, start, length_) {
  out = ""
  while (match(line, /\]\([^) ]+\)/)) {
    start = RSTART
    length_ = RLENGTH
    out = out substr(line, 1, start + 1) target(substr(line, start + 2, length_ - 3)) ")"
    line = substr(line, start + length_)
  }
  return out line
}

/^```/ { fenced = !fenced; print; next }
fenced { print; next }
/^<!-- .* -->$/ { print ""; next }
/^#+ / {
  text = $0
  sub(/^#+ +/, "", text)
  if ($0 ~ /^# / && !titled) {
    titled = 1
    print $0 " {#" id_of(page) "}"
  } else {
    print $0 " {#" id_of(page) "-" anchor_of(text) "}"
  }
  next
}
{ print with_links($0) }
