// A schema file, places in it, and what is wrong there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latticec {

class Source {
 public:
  Source(std::string path, std::string text);
  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }

  struct Position {
    size_t line = 0, column = 0;  // both from 1; columns are bytes
  };
  Position position(size_t offset) const;
  /// Without its end.
  std::string_view line(size_t number) const;

 private:
  std::string path_, text_;
  std::vector<size_t> line_starts_;
};

struct Place {
  const Source* source = nullptr;
  size_t offset = 0, length = 0;
};

/// Collects errors, in the form
///
///     arena.lattice:12:4: error: there is no attribute 'bitz'
///        12 |   @bitz(10)
///           |    ^~~~
///           = did you mean 'bits'?
class Report {
 public:
  static constexpr size_t kMostErrors = 20;  // further ones are only counted

  void error(const Place& place, const std::string& what, const std::string& hint = "");
  /// Of no place in a file.
  void error(const std::string& what);
  bool ok() const { return count_ == 0; }
  bool is_full() const { return count_ >= kMostErrors; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  size_t count_ = 0;
};

/// "did you mean 'x'?", or "" when no known name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace latticec
