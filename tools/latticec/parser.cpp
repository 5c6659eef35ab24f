#include "parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

#include "lattice/schema.h"
#include "lexer.h"
#include "names.h"

namespace latticec {
namespace {

constexpr size_t kMostFiles = 256;
constexpr size_t kMostDeclarations = 4096;
constexpr size_t kMostVaried = 65536;  // members of all variants: a short line makes up to 256

/// What a unit multiplies its number with. Lengths are in metres, times in seconds, angles in radians.
std::optional<double> unit_factor(std::string_view unit) {
  constexpr double kDegree = 3.141592653589793 / 180;
  if (unit.empty() || unit == "m" || unit == "s" || unit == "rad") return 1;
  if (unit == "cm") return 0.01;
  if (unit == "mm" || unit == "ms") return 0.001;
  if (unit == "km") return 1000;
  if (unit == "deg") return kDegree;
  return std::nullopt;
}

std::string kind_name(const Token& token) {
  if (token.kind == Token::Kind::kEnd) return "the end of the file";
  return "'" + token.text.substr(0, 40) + "'";
}

class Parser {
 public:
  Parser(const Source& source, Schema& out, Report& report)
      : out_(out), report_(report), tokens_(split(source, report)) {}

  /// Declarations; calls `import` for each import. One with an error is left out.
  void run(bool is_first, const std::function<void(const std::string&, const Place&)>& import) {
    while (next().kind != Token::Kind::kEnd && !report_.is_full()) {
      const Report::Part own(report_);
      const size_t begin = at_;
      const Token imported = take_declaration(is_first);
      if (!report_.ok()) {
        skip_declaration(begin);
      } else if (imported.kind == Token::Kind::kText) {
        import(imported.text, imported.place);
      } else if (out_.enums.size() + out_.structures.size() + out_.objects.size() > kMostDeclarations) {
        return report_.too_much(next().place, "more than 4096 declarations");
      }
    }
  }

 private:
  /// Returns the name of the file of an import.
  Token take_declaration(bool is_first) {
    const std::vector<Attribute> attributes = take_attributes();
    const Token& word = next();
    if (word.is("import") && attributes.empty()) {
      take();
      Token file = take();
      if (file.kind != Token::Kind::kText) expected("the name of a file in quotes", file);
      if (is_first) out_.imports.push_back(file.text);
      need(";");
      return file;
    }
    if (word.is("namespace") && attributes.empty()) {
      take();
      const Token name = take_name("the name of the namespace");
      if (is_first) out_.name = name.text, out_.name_place = name.place;
      need(";");
    } else if (word.is("enum")) {
      take_enum();
    } else if (word.is("struct") || word.is("union") || word.is("state") || word.is("input")) {
      take_structure(attributes);
    } else if (word.is("variant")) {
      take_variant(attributes);
    } else if (word.is("object")) {
      take_object(attributes);
    } else {
      expected("import, namespace, enum, struct, union, state, variant, input or object", word);
    }
    return {};
  }

  /// Goes on with the next word that begins a declaration and a line.
  void skip_declaration(size_t begin) {
    static constexpr const char* kWords[] = {"import", "namespace", "enum",  "struct", "union",
                                             "state",  "variant",   "input", "object"};
    if (at_ == begin) take();
    for (; next().kind != Token::Kind::kEnd; take()) {
      const bool is_word = std::ranges::any_of(kWords, [this](const char* word) { return next().is(word); });
      const Place& place = next().place;
      if (is_word && place.source->position(place.offset).column == 1) return;
    }
  }

  /// Takes parts up to the closing brace. One with an error is left out, up to its semicolon.
  template <class TakePart>
  void take_parts(TakePart take_part) {
    while (!next().is("}") && next().kind != Token::Kind::kEnd && !report_.is_full()) {
      const Report::Part own(report_);
      const size_t begin = at_;
      take_part();
      if (report_.ok()) continue;
      if (at_ == begin) take();
      while (!next().is(";") && !next().is("}") && next().kind != Token::Kind::kEnd) take();
      take_if(";");
    }
    need("}");
  }

  const Token& next(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() {
    const Token& token = next();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool take_if(std::string_view sign) {
    const bool is_there = next().is(sign);
    if (is_there) take();
    return is_there;
  }
  void expected(const std::string& what, const Token& found) {
    if (report_.ok()) report_.error(found.place, "expected " + what + ", and found " + kind_name(found));
  }
  bool need(std::string_view sign) {
    if (take_if(sign)) return true;
    expected("'" + std::string(sign) + "'", next());
    return false;
  }
  Token take_name(const char* what) {
    if (next().kind != Token::Kind::kWord) {
      expected(what, next());
      return {};
    }
    Token token = take();
    if (token.text.size() > LATTICE_MAX_NAME_BYTES) {
      report_.error(token.place, "a name of " + std::to_string(token.text.size()) + " bytes; 63 is the most");
    }
    return token;
  }

  Argument take_argument() {
    Argument out;
    const Token token = take();
    out.place = token.place;
    if (token.kind == Token::Kind::kWord) {
      out.word = token.text;
      return out;
    }
    if (token.kind != Token::Kind::kNumber) {
      expected("a number or a word", token);
      return out;
    }
    out.is_number = true;
    std::string digits;
    for (const char c : token.text) {
      if (c != '\'') digits += c;
    }
    const char* begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
    const char* const end = digits.data() + digits.size();
    const auto whole = std::from_chars(begin, end, out.whole);
    const auto real = std::from_chars(begin, end, out.number);
    if (real.ec != std::errc{} || !std::isfinite(out.number)) {
      report_.error(token.place, "this is no number that can be used");
      return out;
    }
    const std::optional<double> factor = unit_factor(std::string_view(real.ptr, end));
    if (!factor) {
      report_.error(token.place, "there is no unit '" + std::string(real.ptr, end) + "'",
                    "units are m, cm, mm, km, s, ms, rad and deg");
      return out;
    }
    out.is_whole = whole.ec == std::errc{} && whole.ptr == real.ptr && real.ptr == end;
    out.number *= *factor;
    return out;
  }

  std::vector<Attribute> take_attributes() {
    std::vector<Attribute> out;
    if (next().is("@")) doc_ = next().doc;
    while (report_.ok() && take_if("@")) {
      const Token name = take_name("the name of an attribute");
      Attribute& attribute = out.emplace_back();
      attribute.name = name.text;
      attribute.place = name.place;
      if (out.size() > 16) report_.too_much(name.place, "more than 16 attributes");
      const auto same = std::ranges::count(out, name.text, &Attribute::name);
      if (report_.ok() && same > 1 && name.text != "bounds") {
        report_.error(name.place, "@" + name.text + " is there already");
      }
      if (!take_if("(")) continue;
      do {
        attribute.arguments.push_back(take_argument());
        if (attribute.arguments.size() > 8) report_.too_much(name.place, "more than 8 values");
      } while (report_.ok() && take_if(","));
      need(")");
    }
    return out;
  }
  /// The comment before attributes, or before what follows them.
  std::string take_doc(const Token& first, const std::vector<Attribute>& attributes) {
    std::string doc = attributes.empty() ? first.doc : std::move(doc_);
    doc_.clear();
    return doc;
  }

  void take_enum() {
    const Token word = take();
    Enum& out = out_.enums.emplace_back();
    const Token name = take_name("the name of the enum");
    out.name = name.text, out.place = name.place, out.doc = word.doc;
    if (take_if(":")) out.base = take_name("an integer type").text;
    if (!need("{")) return;
    int64_t value = 0;
    while (report_.ok() && !next().is("}")) {
      const Token entry = take_name("the name of a value, or '}'");
      if (take_if("=")) {
        const Argument number = take_argument();
        if (!number.is_whole)
          report_.error(number.place.source ? number.place : entry.place, "a value is a whole number");
        value = number.whole;
      }
      out.values.push_back({entry.place, entry.text, entry.doc, value});
      if (out.values.size() > 65536) return report_.too_much(entry.place, "more than 65536 values");
      if (value == INT64_MAX && !next().is("}"))
        return report_.error(entry.place, "no number is left for the next value");
      ++value;
      if (!take_if(",")) break;
    }
    need("}");
    if (report_.ok() && out.values.empty()) report_.error(out.place, "an enum without a value");
  }

  void take_structure(const std::vector<Attribute>& attributes) {
    const Token word = take();
    Structure& out = out_.structures.emplace_back();
    out.is_broken = true;
    out.doc = take_doc(word, attributes);
    out.attributes = attributes;
    out.kind = word.is("union")   ? Structure::Kind::kUnion
               : word.is("state") ? Structure::Kind::kState
               : word.is("input") ? Structure::Kind::kInput
                                  : Structure::Kind::kStruct;
    const Token name = take_name("a name");
    out.name = name.text, out.place = name.place;
    if (!need("{")) return;
    take_parts([&] {
      take_member(out);
      need(";");
    });
    if (report_.ok() && out.members.empty()) report_.error(out.place, "'" + out.name + "' has no member");
    out.is_broken = !report_.ok();
  }

  // A copy of a state in which some members have other attributes and some are missing.
  void take_variant(const std::vector<Attribute>& attributes) {
    const Token word = take();
    std::string doc = take_doc(word, attributes);
    const Token name = take_name("the name of the variant");
    if (!need("of")) return;
    const Token of = take_name("the name of a state");
    const auto base = std::ranges::find(out_.structures, of.text, &Structure::name);
    if (report_.ok() && (base == out_.structures.end() || base->kind != Structure::Kind::kState)) {
      return report_.error(of.place, "there is no state '" + of.text + "' before this line");
    }
    if (report_.ok() && !base->variant_of.empty()) {
      return report_.error(of.place, "'" + of.text + "' is a variant itself",
                           "name the state: " + base->variant_of);
    }
    if (!need("{")) return;
    if (report_.ok() && base->is_broken) {  // which says enough
      while (!next().is("}") && next().kind != Token::Kind::kEnd) take();
      need("}");
      return;
    }
    if (!report_.ok()) return;
    Structure out = *base;
    out.name = name.text, out.place = name.place, out.doc = std::move(doc);
    out.attributes = attributes;
    out.variant_of = of.text;
    varied_ += out.members.size();
    if (varied_ > kMostVaried) {
      return report_.too_much(out.place, "variants of more than 65536 members in all");
    }
    if (next().is("}")) {
      return report_.error(out.place, "'" + out.name + "' changes nothing of '" + of.text + "'",
                           "name the members that differ, or omit some");
    }
    take_parts([&] {
      take_varied(out);
      need(";");
    });
    if (report_.ok() && out.members.empty()) report_.error(out.place, "'" + out.name + "' has no member");
    out_.structures.push_back(std::move(out));
  }

  // Who gets a member stays as it was, unless the variant says something of it.
  static void set_attributes(Member& member, const std::vector<Attribute>& attributes) {
    const auto is_condition = [](const Attribute& a) {
      return a.name == "owner_only" || a.name == "skip_owner" || a.name == "predicted_only" ||
             a.name == "initial_only";
    };
    const auto is_everyone = [](const Attribute& a) { return a.name == "everyone"; };
    const bool says =
        std::ranges::any_of(attributes, is_condition) || std::ranges::any_of(attributes, is_everyone);
    std::vector<Attribute> all = attributes;
    std::erase_if(all, is_everyone);
    if (!says) std::ranges::copy_if(member.attributes, std::back_inserter(all), is_condition);
    member.is_for_everyone = says && !std::ranges::any_of(all, is_condition);
    member.attributes = std::move(all);
  }

  void take_varied(Structure& to) {
    const std::vector<Attribute> attributes = take_attributes();
    const std::string doc = take_doc(next(), attributes);
    const bool is_omitted = attributes.empty() && next().is("omit") && next(1).kind == Token::Kind::kWord;
    if (is_omitted) take();
    const Token name = take_name("the name of a member, or omit");
    if (!report_.ok()) return;
    if (next().kind == Token::Kind::kWord) {
      return report_.error(name.place,
                           "a variant names a member of '" + to.variant_of + "' without its type");
    }
    const auto member = std::ranges::find(to.members, name.text, &Member::name);
    if (member == to.members.end()) {
      std::vector<std::string> known;
      for (const Member& other : to.members) known.push_back(other.name);
      const bool is_gone = std::ranges::find(to.omitted, name.text) != to.omitted.end();
      return report_.error(name.place,
                           is_gone ? "'" + name.text + "' is omitted already"
                                   : "'" + to.variant_of + "' has no member '" + name.text + "'",
                           did_you_mean(name.text, known));
    }
    if (member->is_varied) return report_.error(name.place, "'" + name.text + "' is there already");
    if (is_omitted) {
      to.omitted.push_back(name.text);
      to.members.erase(member);
      return;
    }
    member->is_varied = true;
    set_attributes(*member, attributes);
    member->place = name.place;
    if (!doc.empty()) member->doc = doc;
  }

  void take_member(Structure& to) {
    if (to.members.size() == LATTICE_MAX_MEMBERS) {
      return report_.too_much(next().place, "'" + to.name + "' has more than 256 members");
    }
    Member member;
    member.attributes = take_attributes();
    member.doc = take_doc(next(), member.attributes);
    const bool is_map = take_if("map");
    const Token type = take_name("a type");
    member.type = type.text, member.type_place = type.place;
    if (take_if("(")) {
      const Argument bytes = take_argument();
      if (report_.ok() && (!bytes.is_whole || bytes.whole < 1 || bytes.whole > LATTICE_MAX_STRING_BYTES)) {
        report_.error(bytes.place, "a number of bytes is 1 to 65535");
      }
      member.capacity = static_cast<uint32_t>(bytes.whole);
      need(")");
    }
    const Token name = take_name("the name of the member");
    member.name = name.text, member.place = name.place;
    if (take_if("[")) take_shape(member, is_map);
    if (report_.ok() && is_map && member.shape != Member::Shape::kMap) {
      report_.error(member.place, "a map has room for so many entries: " + member.name + "[<=8]");
    }
    to.members.push_back(std::move(member));
  }

  void take_shape(Member& member, bool is_map) {
    const bool is_list = take_if("<=");
    member.shape = is_map ? Member::Shape::kMap : is_list ? Member::Shape::kList : Member::Shape::kArray;
    const Argument count = take_argument();
    member.count_place = count.place;
    const int64_t most = is_list ? LATTICE_MAX_LIST_ELEMENTS : LATTICE_MAX_ARRAY_ELEMENTS;
    const int64_t least = is_list ? 1 : 2;
    if (report_.ok() && (!count.is_whole || count.whole < least || count.whole > most)) {
      report_.error(count.place, (is_list ? "a list or a map has room for 1 to " : "an array has 2 to ") +
                                     std::to_string(most) + " elements");
    }
    if (report_.ok() && is_map && !is_list)
      report_.error(count.place, "the size of a map is its room: [<=8]");
    member.count = static_cast<uint32_t>(count.whole);
    need("]");
  }

  void take_object(const std::vector<Attribute>& attributes) {
    const Token word = take();
    Object& out = out_.objects.emplace_back();
    out.doc = take_doc(word, attributes);
    out.attributes = attributes;
    const Token name = take_name("the name of the object");
    out.name = name.text, out.place = name.place;
    if (!need("{")) return;
    take_parts([&] { take_object_part(out); });
    if (report_.ok() && out.states.empty()) report_.error(out.place, "an object has a state");
  }

  void take_object_part(Object& out) {
    const std::vector<Attribute> attributes = take_attributes();
    if (next().is("rpc")) return take_rpc(out, attributes);
    if (!next().is("state") || !attributes.empty()) return expected("state, rpc or '}'", next());
    take();
    const Token structure = take_name("the name of a state");
    Object::State& state = out.states.emplace_back();
    state.place = structure.place;
    state.structure = state.name = structure.text;
    if (next().kind == Token::Kind::kWord) state.name = take_name("a name").text;
    if (out.states.size() > LATTICE_MAX_BEHAVIOURS) report_.too_much(structure.place, "more than 16 states");
    need(";");
  }

  void take_rpc(Object& object, const std::vector<Attribute>& attributes) {
    const Token word = take();
    Rpc& out = object.rpcs.emplace_back();
    out.doc = take_doc(word, attributes);
    out.attributes = attributes;
    const Token name = take_name("the name of the rpc");
    out.name = name.text, out.place = name.place;
    out.arguments.kind = Structure::Kind::kArguments;
    out.arguments.place = name.place;
    if (object.rpcs.size() > LATTICE_MAX_RPCS) return report_.too_much(name.place, "more than 256 rpcs");
    if (!need("(")) return;
    while (report_.ok() && !next().is(")")) {
      take_member(out.arguments);
      if (!take_if(",")) break;
    }
    if (!need(")") || !need("to")) return;
    const Token target = take();
    out.target = target.text, out.target_place = target.place;
    if (out.target != "server" && out.target != "owner" && out.target != "all" && out.target != "peer") {
      return expected("server, owner, all or peer", target);
    }
    need(";");
  }

  Schema& out_;
  Report& report_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  size_t varied_ = 0;  // members of variants in this file
  std::string doc_;
};

/// Reads files, each once. A file that imports one that is being read is refused.
class Loader {
 public:
  Loader(const ReadFile& read, Schema& out, Report& report) : read_(read), out_(out), report_(report) {}

  void load(const std::string& path, const Place* from) {
    if (done_.contains(path)) return;
    if (open_.contains(path)) return report_.error(*from, "'" + path + "' imports itself, through this file");
    if (open_.size() + done_.size() >= kMostFiles) return report_.too_much(*from, "more than 256 files");
    std::string why;
    std::optional<std::string> text = read_(path, &why);
    if (!text) {
      const std::string what = "cannot read '" + path + "': " + why;
      return from != nullptr ? report_.error(*from, what) : report_.error(what);
    }
    open_.insert(path);
    const bool is_first = out_.sources.empty();
    out_.sources.push_back(std::make_unique<Source>(path, std::move(*text)));
    Parser parser(*out_.sources.back(), out_, report_);
    if (report_.ok()) {
      parser.run(is_first, [&](const std::string& file, const Place& place) {
        load((std::filesystem::path(path).parent_path() / file).lexically_normal().string(), &place);
      });
    }
    open_.erase(path);
    done_.insert(path);
  }

 private:
  const ReadFile& read_;
  Schema& out_;
  Report& report_;
  std::set<std::string> open_, done_;
};

}  // namespace

void parse(const std::string& path, const ReadFile& read, Schema& out, Report& report) {
  Loader(read, out, report).load(path, nullptr);
}

}  // namespace latticec
