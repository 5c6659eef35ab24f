#include "tools.h"

#include <algorithm>
#include <map>

#include "lexer.h"

namespace latticec {
namespace {

struct Line {
  std::string path, text;
};

/// The lines of a canonical text (D-30, D-31), each with the names of what it is in.
std::vector<Line> lines_of(const std::string& canonical) {
  std::vector<Line> out;
  std::vector<std::string> path;  // by depth: type, behaviour, member, member, ...
  for (size_t at = 0; at < canonical.size();) {
    const size_t end = std::min(canonical.find('\n', at), canonical.size());
    std::string line = canonical.substr(at, end - at);
    at = end + 1;
    const size_t spaces = line.find_first_not_of(' ');
    if (spaces == std::string::npos) continue;
    line.erase(0, spaces);
    std::vector<std::string> words;
    for (size_t from = 0; from < line.size();) {
      const size_t stop = std::min(line.find(' ', from), line.size());
      words.push_back(line.substr(from, stop - from));
      from = stop + 1;
    }
    size_t depth = 0, name = 1, rest = 2;
    if (words[0] == "type") {
      depth = 0, name = 2, rest = 1;
    } else if (words[0] == "input") {
      depth = 0;
    } else if (words[0] == "rpc") {
      depth = 1, name = 2, rest = 1;
    } else if (words[0] == "behaviour") {
      // Behind an rpc stand its arguments.
      depth = path.size() > 1 && path[1].starts_with("rpc ") ? 2 : 1;
    } else {
      depth = spaces + (path.size() > 2 && path[1].starts_with("rpc ") ? 2 : 1);
    }
    if (words.size() <= name) continue;
    path.resize(std::min(depth, path.size()));
    path.resize(depth);
    path.push_back((words[0] == "rpc" ? "rpc " : "") + words[name]);
    std::string text;
    for (size_t i = rest; i < words.size(); ++i) {
      if (i != name) text += (text.empty() ? "" : " ") + words[i];
    }
    std::string full;
    for (const std::string& part : path) full += (full.empty() ? "" : ".") + part;
    out.push_back({full, text});
  }
  return out;
}

bool stands_close_before(const std::string& text) {
  return text == ";" || text == "," || text == ")" || text == "]" || text == "(" || text == "[";
}
bool stands_close_behind(const std::string& text) {
  return text == "(" || text == "[" || text == "@" || text == "<=";
}

}  // namespace

std::vector<std::string> differences(const std::string& old_canonical, const std::string& new_canonical) {
  const std::vector<Line> before = lines_of(old_canonical), after = lines_of(new_canonical);
  std::map<std::string, std::string> old_texts, new_texts;
  for (const Line& line : before) old_texts[line.path] = line.text;
  for (const Line& line : after) new_texts[line.path] = line.text;
  std::vector<std::string> out;
  for (const Line& line : before) {
    const auto now = new_texts.find(line.path);
    if (now == new_texts.end()) {
      out.push_back(line.path + ": is gone");
    } else if (now->second != line.text) {
      out.push_back(line.path + ": " + line.text + " -> " + now->second);
    }
  }
  for (const Line& line : after) {
    if (!old_texts.contains(line.path)) out.push_back(line.path + ": is new");
  }
  if (out.empty() && old_canonical != new_canonical)
    out.emplace_back("the order changed, which is the order of the wire");
  return out;
}

std::string in_form(const Source& source, Report& report) {
  const std::vector<Token> tokens = split(source, report, true);
  if (!report.ok()) return "";
  std::string out;
  size_t depth = 0, parentheses = 0, last_line = 1;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const std::string text = token.kind == Token::Kind::kText ? "\"" + token.text + "\"" : token.text;
    if (token.is("}") && depth > 0) --depth;
    const size_t line = source.position(token.place.offset).line;
    if (i == 0) {
      out += std::string(2 * depth, ' ');
    } else if (line != last_line) {
      out += line > last_line + 1 ? "\n\n" : "\n";
      // What goes on in another line is indented once more.
      out += std::string(2 * depth + (parentheses > 0 ? 4 : 0), ' ');
    } else if (token.kind == Token::Kind::kComment) {
      out += "  ";
    } else if (!stands_close_before(text) && !stands_close_behind(tokens[i - 1].text)) {
      out += ' ';
    } else if (text == "(" && tokens[i - 1].is("rpc")) {
      out += ' ';
    }
    out += text;
    if (token.is("{")) ++depth;
    if (token.is("(")) ++parentheses;
    if (token.is(")") && parentheses > 0) --parentheses;
    last_line = line;
  }
  return out.empty() ? "" : out + "\n";
}

std::string first_schema() {
  return R"(// A schema: what the objects of a game are made of. latticec makes C++ of it.
namespace game;

enum Weapon : uint8 { fists, bow, sword }

/// Something that a player carries.
struct Item {
  uint16 kind;
  bool worn;
}

/// What everybody sees of a player.
state Fighter {
  /// The feet, in metres.
  @bounds(-512m, 512m, 1cm)
  @position
  vec3 position;
  @bounds(-32, 32, 0.05)
  @velocity
  vec3 velocity;
  /// Where the player looks.
  @angle
  float yaw;
  @bits(10)
  uint16 health;
  Weapon weapon;
  Item items[<=12];
  string(16) name;
}

@predicted
object Player {
  state Fighter;
  /// The owner attacks. The direction is a unit vector.
  @owner_only
  rpc attack(@bounds(-1, 1, 0.001) vec2 direction) to server;
}

/// What a player's client sends each tick.
input Command {
  @bounds(-1, 1, 0.01)
  vec2 move;
  bool jump;
}
)";
}

}  // namespace latticec
