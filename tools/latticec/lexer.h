// Splits a schema file into words, numbers and signs.
#pragma once

#include <string>
#include <vector>

#include "source.h"

namespace latticec {

struct Token {
  enum class Kind {
    kWord,     // a name or a keyword
    kNumber,   // with its sign and its unit: -2.5e3, 30cm
    kText,     // "…", without escapes
    kSign,     // one of { } ( ) [ ] ; , @ = < : or <=
    kComment,  // a line from // on, for the formatter only
    kEnd,
  };
  Kind kind = Kind::kEnd;
  Place place;
  std::string text;  // of a kText without its quotes
  std::string doc;   // the lines of /// right before, for what they stand before
  bool is(std::string_view sign_or_word) const {
    return (kind == Kind::kSign || kind == Kind::kWord) && text == sign_or_word;
  }
};

/// The last token is kEnd. `comments`: with comments as tokens, else without.
std::vector<Token> split(const Source& source, Report& report, bool comments = false);

}  // namespace latticec
