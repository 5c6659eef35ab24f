#include "serialization/schema_difference.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace lattice::serialization {
namespace {

constexpr size_t kMaxDepth = 16;  // of names: a type, a behaviour, and members within members
constexpr size_t kMaxNameBytes = 127;
constexpr size_t kMaxShownBytes = 160;

/// A line, and the names of what it is in.
struct SchemaLine {
  std::string path, text;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t from = 0; from < line.size();) {
    const size_t stop = std::min(line.find(' ', from), line.size());
    words.push_back(line.substr(from, stop - from));
    from = stop + 1;
  }
  return words;
}

/// How deep the line lies below what `path` names, and which of its words is the name.
struct PlaceInSchema {
  size_t depth = 0;
  size_t name = 1;
  size_t rest = 2;  // its description begins here
};

PlaceInSchema place_of(std::string_view kind, size_t spaces, const std::vector<std::string>& path) {
  const bool in_rpc = path.size() > 1 && path[1].starts_with("rpc ");  // behind it stand its arguments
  if (kind == "type") return {0, 2, 1};
  if (kind == "input") return {};
  if (kind == "rpc") return {1, 2, 1};
  if (kind == "behaviour") return {in_rpc ? size_t{2} : size_t{1}};
  return {spaces + (path.size() > 2 && in_rpc ? 2 : 1)};
}

/// The member of lattice_world_config that makes this line, for those of which users know no line.
std::string_view config_member_of(const std::vector<std::string_view>& words) {
  if (words.size() == 3 && words[0] == "channel" && words[2] == "bulk") return "transfer_channel";
  return words.size() == 2 && words[0] == "transport" && words[1] == "only" ? "transport_only" : "";
}

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kMaxShownBytes));
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kMaxShownBytes ? out + "..." : out;
}

std::vector<SchemaLine> lines_of(std::string_view canonical) {
  std::vector<SchemaLine> out;
  std::vector<std::string> path;  // by depth
  for (size_t at = 0; at < canonical.size();) {
    const size_t end = std::min(canonical.find('\n', at), canonical.size());
    std::string_view line = canonical.substr(at, end - at);
    at = end + 1;
    const size_t spaces = line.find_first_not_of(' ');
    if (spaces == std::string_view::npos) continue;
    line.remove_prefix(spaces);
    const std::vector<std::string_view> words = words_of(line);
    if (const std::string_view member = config_member_of(words); !member.empty()) {
      out.push_back({std::string(member), words[0] == "channel" ? std::string(words[1]) : ""});
      continue;
    }
    const PlaceInSchema place = place_of(words[0], spaces, path);
    if (words.size() <= place.name || place.depth > kMaxDepth) continue;
    const std::string_view name = words[place.name];
    if (name.size() > kMaxNameBytes) continue;
    path.resize(place.depth);
    path.push_back((words[0] == "rpc" ? "rpc " : "") + std::string(name));
    SchemaLine& made = out.emplace_back();
    for (const std::string& part : path) made.path += (made.path.empty() ? "" : ".") + part;
    for (size_t i = place.rest; i < words.size(); ++i) {
      if (i != place.name) made.text.append(made.text.empty() ? "" : " ").append(words[i]);
    }
  }
  return out;
}

/// Of what both have, the first on this side that stands at another place on the other; "" when all is in
/// order.
std::string first_moved(const std::vector<SchemaLine>& ours, const std::vector<SchemaLine>& theirs,
                        const std::map<std::string_view, std::string_view>& our_texts,
                        const std::map<std::string_view, std::string_view>& their_texts) {
  auto other = theirs.begin();
  for (const SchemaLine& line : ours) {
    if (!their_texts.contains(line.path)) continue;
    while (other != theirs.end() && !our_texts.contains(other->path)) ++other;
    if (other == theirs.end() || other->path != line.path) return line.path;
    ++other;
  }
  return "";
}

std::string without_no_flags(const std::string& text) {
  constexpr std::string_view kNone = " flags 0";
  return text.ends_with(kNone) ? text.substr(0, text.size() - kNone.size()) : text;
}

}  // namespace

std::vector<SchemaDifference> schema_differences(std::string_view ours, std::string_view theirs,
                                                 Extent extent) {
  const bool is_whole = extent == Extent::kWhole;
  if (!is_whole) theirs = theirs.substr(0, theirs.rfind('\n') + 1);
  const std::vector<SchemaLine> before = lines_of(ours), after = lines_of(theirs);
  std::map<std::string_view, std::string_view> our_texts, their_texts;
  for (const SchemaLine& line : before) our_texts[line.path] = line.text;
  for (const SchemaLine& line : after) their_texts[line.path] = line.text;
  std::vector<SchemaDifference> out;
  std::string_view alone;  // what one side alone has, and so all that is in it
  const auto is_within = [&alone](std::string_view path) {
    return !alone.empty() && path.starts_with(alone) && path.substr(alone.size()).starts_with('.');
  };
  for (const SchemaLine& line : before) {
    const auto there = their_texts.find(line.path);
    if (there == their_texts.end()) {
      if (!is_whole || is_within(line.path)) continue;
      alone = line.path;
      out.push_back({printable(line.path), printable(line.text), "", true, false});
    } else if (there->second != line.text) {
      out.push_back({printable(line.path), printable(line.text), printable(there->second), false, false});
    }
  }
  alone = {};
  for (const SchemaLine& line : after) {
    if (our_texts.contains(line.path) || is_within(line.path)) continue;
    alone = line.path;
    out.push_back({printable(line.path), "", printable(line.text), false, true});
  }
  const std::string moved = is_whole ? first_moved(before, after, our_texts, their_texts) : std::string();
  if (!moved.empty() || (out.empty() && is_whole && ours != theirs))
    out.push_back({"", printable(moved), "", false, false});
  return out;
}

namespace {

std::string describe(const std::string& path, const std::string* client, const std::string* server) {
  if (path.empty()) {
    const bool has_place = client != nullptr && !client->empty();
    return "client and server declare what both have in another order" +
           (has_place ? ", from " + *client + " on" : "");
  }
  if (server == nullptr) return path + ": only the client has it";
  if (client == nullptr) return path + ": only the server has it";
  return path + ": client " + without_no_flags(*client) + ", server " + without_no_flags(*server);
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == ':';
}

/// Whether a path is one that lines_of() may make, and is not cut: names (schema_check.h), "rpc " before
/// some.
bool is_path(std::string_view path) {
  constexpr std::string_view kRpc = "rpc";
  if (path.empty() || path.size() > kMaxShownBytes) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_of_name(path[i])) continue;
    const std::string_view before = path.substr(0, i);
    const bool is_rpc = before.ends_with(kRpc) && (before == kRpc || before[i - kRpc.size() - 1] == '.');
    if (path[i] != ' ' || !is_rpc) return false;
  }
  return true;
}

/// A description by a client: the words of schema texts, numbers, and one name, that of a structure or a
/// serializer. Of anything else the place is shown. So a client cannot tell the operator a story.
std::string known_words(const std::string& description) {
  static constexpr std::string_view kWords[] = {
      "bool",       "enum",       "int8",     "uint8",          "int16",    "uint16",   "int32",
      "uint32",     "int64",      "uint64",   "float",          "double",   "vector2",  "vector3",
      "vector4",    "quaternion", "string",   "fixed_string",   "bytes",    "fixed64",  "netid",
      "struct",     "custom",     "tick",     "dvector2",       "dvector3", "dvector4", "array",
      "list",       "map",        "union",    "delta",          "whole",    "ordinal",  "ranged",
      "bits",       "compressed", "angle",    "smallest_three", "fixed",    "full",     "half",
      "varint",     "difference", "capacity", "flags",          "object",   "channel",  "target",
      "owner_only", "delivery"};
  std::string out;
  bool has_name = false;
  for (const std::string_view word : words_of(description)) {
    const bool is_number = word.find_first_not_of("0123456789+-.e") == std::string_view::npos;
    const bool is_known = is_number || std::ranges::find(kWords, word) != std::end(kWords);
    const bool is_name =
        !is_known && !has_name && !word.empty() && word.size() < 64 && std::ranges::all_of(word, is_of_name);
    has_name |= is_name;
    out.append(out.empty() ? "" : " ").append(is_known || is_name ? word : "?");
  }
  return out;
}

}  // namespace

std::string describe_to_client(const SchemaDifference& difference) {
  return describe(difference.path, difference.is_theirs_only ? nullptr : &difference.ours,
                  difference.is_ours_only ? nullptr : &difference.theirs);
}

std::string describe_to_server(const SchemaDifference& difference) {
  return describe(difference.path, difference.is_ours_only ? nullptr : &difference.theirs,
                  difference.is_theirs_only ? nullptr : &difference.ours);
}

std::string told_lines(const std::vector<SchemaDifference>& differences, size_t max_bytes) {
  std::string lines;
  for (const SchemaDifference& difference : differences) {
    if (!difference.path.empty() && !is_path(difference.path)) continue;
    std::string line = difference.path;
    const bool has_ours = difference.path.empty() ? is_path(difference.ours) : !difference.is_theirs_only;
    if (has_ours) line += '\t' + difference.ours;
    line += '\n';
    if (lines.size() + line.size() <= max_bytes) lines += line;
  }
  return lines;
}

std::vector<SchemaDifference> differences_told(std::string_view ours, std::string_view lines) {
  const std::vector<SchemaLine> own = lines_of(ours);
  std::map<std::string_view, std::string_view> texts;
  for (const SchemaLine& line : own) texts[line.path] = line.text;
  std::vector<SchemaDifference> out;
  bool tells_order = false;
  std::string moved;
  for (size_t at = 0; at < lines.size() && out.size() < kMaxDifferencesTold;) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string_view line = lines.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line[0] == '\t') {
      const bool has_place = texts.contains(line.substr(std::min<size_t>(1, line.size())));
      if (!tells_order && has_place) moved = line.substr(1);
      tells_order |= line.empty() || has_place;
      continue;
    }
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string path(line.substr(0, tab));
    if (!is_path(path)) continue;
    const bool client_has = tab != line.size();
    const std::string theirs = client_has ? printable(line.substr(tab + 1)) : std::string();
    const auto found = texts.find(path);
    const bool server_has = found != texts.end();
    const std::string mine = server_has ? printable(found->second) : std::string();
    if (client_has == server_has && mine == theirs) continue;
    out.push_back({path, mine, known_words(theirs), !client_has, !server_has});
  }
  if (tells_order && out.size() < kMaxDifferencesTold) out.push_back({"", "", moved, false, false});
  return out;
}

}  // namespace lattice::serialization
