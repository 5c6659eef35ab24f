#include "tools.h"

#include <algorithm>

#include "lexer.h"
#include "serialization/schema_difference.h"

namespace latticec {
namespace {

bool stands_close_before(const std::string& text) {
  return text == ";" || text == "," || text == ")" || text == "]" || text == "(" || text == "[";
}
bool stands_close_behind(const std::string& text) {
  return text == "(" || text == "[" || text == "@" || text == "<=";
}

}  // namespace

std::vector<std::string> differences(const std::string& old_canonical, const std::string& new_canonical) {
  std::vector<std::string> out;
  for (const auto& at : lattice::serialization::schema_differences(old_canonical, new_canonical)) {
    out.push_back(at.path.empty()     ? "the order changed, which is the order of the wire"
                  : at.is_ours_only   ? at.path + ": is gone"
                  : at.is_theirs_only ? at.path + ": is new"
                                      : at.path + ": " + at.ours + " -> " + at.theirs);
  }
  return out;
}

std::vector<std::string> other_meanings(const Schema& before, const Schema& after) {
  std::vector<std::string> out;
  for (const Enum& now : after.enums) {
    const auto then = std::ranges::find(before.enums, now.name, &Enum::name);
    if (then == before.enums.end()) continue;
    for (const Enum::Value& value : now.values) {
      const auto same = std::ranges::find(then->values, value.value, &Enum::Value::value);
      if (same == then->values.end() || same->name == value.name) continue;
      out.push_back("enum " + now.name + ": " + std::to_string(value.value) + " is " + value.name + ", was " +
                    same->name);
    }
  }
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
