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
  static constexpr size_t kMostErrors = 20;  // what comes after them is not looked at

  void error(const Place& place, const std::string& what, const std::string& hint = "");
  /// Of no place in a file.
  void error(const std::string& what);
  /// Nothing is wrong in the innermost Part, or at all where there is none.
  bool ok() const { return count_ == before_part_; }
  bool is_full() const { return is_over_ || count_ >= kMostErrors; }
  /// There is too much of something: what comes after it is not looked at.
  void too_much(const Place& place, const std::string& what) {
    error(place, what);
    is_over_ = true;
  }
  /// By file, in the order of the lines of each.
  std::string text() const;

  /// Something with errors of its own, such as a declaration or a member: what comes after it is looked at
  /// too.
  class Part {
   public:
    explicit Part(Report& report) : report_(report), outer_(report.before_part_) {
      report.before_part_ = report.count_;
    }
    ~Part() { report_.before_part_ = outer_; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Report& report_;
    size_t outer_;
  };

 private:
  struct Entry {
    const Source* source = nullptr;
    size_t offset = 0;
    std::string text;
  };
  std::vector<Entry> entries_;
  size_t count_ = 0;
  size_t before_part_ = 0;
  bool is_over_ = false;
};

/// "did you mean 'x'?", or "" when no known name is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace latticec
