#include "lexer.h"

namespace latticec {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The place of a control character, of one that some language takes for the end of a line (U+0085, U+2028,
/// U+2029), or of one that turns the direction of the text.
size_t odd_character(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t ahead) {
      return i + ahead < text.size() ? static_cast<unsigned char>(text[i + ahead]) : 0u;
    };
    if ((byte(0) < 0x20 && text[i] != '\t') || byte(0) == 0x7F) return i;
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return i;
    if (byte(0) != 0xE2) continue;
    if (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) return i;
    if (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9) return i;
  }
  return std::string_view::npos;
}

class Lexer {
 public:
  Lexer(const Source& source, Report& report, bool comments)
      : source_(source), text_(source.text()), report_(report), comments_(comments) {}

  std::vector<Token> run() {
    while (at_ < text_.size() && !report_.is_full()) step();
    add(Token::Kind::kEnd, text_.size(), text_.size());
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void add(Token::Kind kind, size_t begin, size_t end) {
    Token token;
    token.kind = kind;
    token.place = {&source_, begin, end - begin};
    token.text = text_.substr(begin, end - begin);
    if (kind != Token::Kind::kComment) token.doc = std::move(doc_), doc_.clear();
    tokens_.push_back(std::move(token));
  }

  void step() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      comment();
    } else if (is_letter(c)) {
      const size_t begin = at_;
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      add(Token::Kind::kWord, begin, at_);
    } else if (is_digit(c) || ((c == '-' || c == '+' || c == '.') && (is_digit(peek(1)) || peek(1) == '.'))) {
      number();
    } else if (c == '"') {
      text();
    } else if (std::string_view("{}()[];,@=<:").find(c) != std::string_view::npos) {
      const size_t length = c == '<' && peek(1) == '=' ? 2 : 1;
      add(Token::Kind::kSign, at_, at_ + length);
      at_ += length;
    } else {
      report_.error({&source_, at_, 1}, "this character has no meaning in a schema");
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
  }

  void comment() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    std::string_view line = std::string_view(text_).substr(begin, at_ - begin);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (comments_) add(Token::Kind::kComment, begin, begin + line.size());
    if (!line.starts_with("///")) return;
    // It comes along into comments of other languages, and must not end there.
    if (line.ends_with('\\'))
      return report_.error({&source_, begin, line.size()}, "a comment must not end with \\");
    if (const size_t odd = odd_character(line); odd != std::string_view::npos) {
      return report_.error({&source_, begin + odd, 1},
                           "this character may not be in a comment that comes along");
    }
    line.remove_prefix(line.starts_with("/// ") ? 4 : 3);
    doc_ += std::string(line) + "\n";
  }

  void number() {
    const size_t begin = at_++;
    while (is_digit(peek()) || peek() == '.' || peek() == '\'') ++at_;
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '-' || peek(1) == '+') && is_digit(peek(2))))) {
      at_ += 2;
      while (is_digit(peek())) ++at_;
    }
    while (is_letter(peek())) ++at_;  // a unit
    add(Token::Kind::kNumber, begin, at_);
  }

  void text() {
    const size_t begin = at_++;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n') ++at_;
    if (peek() != '"') return report_.error({&source_, begin, at_ - begin}, "a text without its closing \"");
    add(Token::Kind::kText, begin + 1, at_++);
  }

  const Source& source_;
  const std::string& text_;
  Report& report_;
  bool comments_;
  size_t at_ = 0;
  std::string doc_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> split(const Source& source, Report& report, bool comments) {
  return Lexer(source, report, comments).run();
}

}  // namespace latticec
