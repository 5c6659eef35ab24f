// Writes JSON text from front to back into one string that keeps its capacity: the programs print JSON many
// times a second. The writer places the commas. A number that JSON cannot hold becomes 0.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace app {

class JsonWriter {
 public:
  void clear() { text_.clear(), comma_ = false; }
  const std::string& text() const { return text_; }

  void begin_object() { open('{'); }
  void begin_array() { open('['); }
  void end_object() { close('}'); }
  void end_array() { close(']'); }

  JsonWriter& key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  /// Rounds to `decimals` places and drops trailing zeros.
  void value(double number, int decimals = 3);
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) void value(Integer number) {
    separate();
    text_ += std::to_string(number);
    comma_ = true;
  }
  /// Appends text that is JSON already.
  void raw(std::string_view json);

  template <class Value>
  void member(std::string_view name, const Value& v) {
    key(name).value(v);
  }
  void member(std::string_view name, double number, int decimals) { key(name).value(number, decimals); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate() {
    if (comma_) text_ += ',';
  }

  std::string text_;
  bool comma_ = false;  // the next value or key needs a comma in front
};

/// Appends `text` in quotes, with escapes where JSON needs them.
void append_json_string(std::string& out, std::string_view text);

}  // namespace app
