#!/bin/sh
# Reads the #include lines of the tree against cmake/layers.cmake. check_includes.sh TREE
# Prints "file:line: what is wrong" for each violation and fails when there is one.
#
# - A file of src/ includes its own layer, the layers its line USES, and lattice/ headers; no "..", and no
#   *_internal.h of another layer.
# - Names of the operating system occur in src/platform/posix and win32 only; system libraries only where
#   the layer's line says SYSTEM. Threads, clocks, streams and unseeded randomness occur nowhere in src/.
# - game-sim/, examples/ and apps/ see the library through lattice/ headers; game-sim/ and examples/ use
#   nothing beyond that and the standard library; examples also that of C, threads and the terminal.
# - Each layer that has files has a layer.h of comments; a file has at most 800 lines and no unfinished marks.
set -eu
cd "$1"

files=$(find src include game-sim apps examples tests fuzz bench tools \
  \( -name node_modules -o -name build \) -prune -o \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.js' -o -name '*.mjs' -o -name '*.sh' \) \
  -type f -print 2>/dev/null | LC_ALL=C sort)

# shellcheck disable=SC2086 # paths of this tree have no spaces
awk '
  function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }

  # The layer whose folder is the longest prefix of a path relative to src/; "" when none.
  function layer_of(path,    name, best) {
    best = ""
    for (name in folder)
      if (index(path, folder[name] "/") == 1 && (best == "" || length(folder[name]) > length(folder[best])))
        best = name
    return best
  }

  # The folder inside its layer in which a file lies; "": in none.
  function room_of(path,    name, rest) {
    name = layer_of(path)
    rest = substr(path, length(folder[name]) + 2)
    return name == "" || rest !~ /\// ? "" : substr(rest, 1, index(rest, "/") - 1)
  }

  # ---- cmake/layers.cmake: lattice_layer(name folder ROOMS r s USES a b SYSTEM c), over several lines.
  FILENAME == "cmake/layers.cmake" {
    sub(/#.*/, "")
    table = table " " $0
    next
  }
  !parsed {
    parsed = 1
    split("thread mutex condition_variable future semaphore shared_mutex stop_token iostream fstream regex " \
          "chrono random filesystem ctime csignal", words, " ")
    for (i in words) banned[words[i]] = 1
    library_of["sodium.h"] = "sodium"
    while (match(table, /lattice_layer\([^)]*\)/)) {
      count = split(substr(table, RSTART + 14, RLENGTH - 15), words, " ")
      table = substr(table, RSTART + RLENGTH)
      folder[words[1]] = words[2]
      uses[words[1], words[1]] = 1
      mode = ""
      for (i = 3; i <= count; i++) {
        if (words[i] == "ROOMS" || words[i] == "USES" || words[i] == "SYSTEM") mode = words[i]
        else if (mode == "ROOMS") place_of_room[words[1], words[i]] = i
        else if (mode == "USES") uses[words[1], words[i]] = 1
        else if (mode == "SYSTEM") system_library[words[1], words[i]] = 1
      }
    }
  }

  FNR == 1 {
    area = FILENAME
    sub(/\/.*/, "", area)
    own = area == "src" ? layer_of(substr(FILENAME, 5)) : ""
    own_room = own == "" ? "" : room_of(substr(FILENAME, 5))
    if (area == "src" && own == "") complain("is in no layer of cmake/layers.cmake")
    os_file = FILENAME ~ /^src\/platform\/(posix|win32)\//
    is_layer_h = FILENAME ~ /\/layer\.h$/
    if (own != "") { seen[own] = 1; if (is_layer_h) described[own] = 1 }
  }
  FNR == 801 { complain("has more than 800 lines; split it") }
  /(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ {
    if (FILENAME !~ /^tests\/layers\//) complain("unfinished work is not committed")
  }
  is_layer_h && !/^\/\// && !/^#pragma once$/ && !/^$/ { complain("layer.h holds comments only") }

  /^[ \t]*#[ \t]*include[ \t]*[<"]/ && FILENAME ~ /\.(h|cpp|c)$/ {
    quoted = $0 ~ /include[ \t]*"/
    path = $0
    sub(/^[^<"]*[<"]/, "", path)
    sub(/[>"].*/, "", path)
    if (path ~ /\.\./) { complain("include path \"" path "\" has \"..\""); next }
    is_public = path ~ /^lattice\//
    target = layer_of(path)

    if (area == "src") {
      if (is_public) next
      if (quoted) {
        if (target == "") complain("\"" path "\" is in no layer; write the path from src/")
        else if (!((own, target) in uses)) complain("layer " own " may not include layer " target " (" path ")")
        else if (target != own && path ~ /_internal\.h$/) complain("\"" path "\" is internal to " target)
        else if (target == own && own_room != "" && place_of_room[own, room_of(path)] > place_of_room[own, own_room])
          complain("room " own_room " may not include the later room " room_of(path) " (" path ")")
      } else if (!os_file) {
        if (path in library_of) {
          if (!((own, library_of[path]) in system_library))
            complain("layer " own " has no SYSTEM " library_of[path] " (" path ")")
        } else if (path ~ /[.\/]/) complain("<" path "> belongs in src/platform/posix or win32")
        else if (path in banned) complain("<" path "> is not used in src/")
      }
      next
    }
    if (area == "include" && !is_public && (quoted || path ~ /\//))
      complain("a public header includes lattice/ and the standard library only (" path ")")
    if (area ~ /^(game-sim|examples|apps)$/) {
      if (target != "" && quoted) complain("\"" path "\" is inside the library; use lattice/ headers")
      if (area == "examples" && path ~ /^(std[a-z]*|string|time|threads|signal|pthread|termios|unistd|poll)\.h$/) next
      if (area != "apps" && !is_public && !quoted && path ~ /[.\/]/)
        complain("<" path "> is neither lattice/ nor the C++ standard library")
    }
  }
  END {
    for (name in seen)
      if (!(name in described)) { printf "src/%s: layer %s has no layer.h\n", folder[name], name; bad = 1 }
    exit bad
  }
' cmake/layers.cmake $files
echo "$(printf '%s\n' "$files" | wc -l) files follow cmake/layers.cmake"
