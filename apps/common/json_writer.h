// Writes JSON text front to back into one string that keeps its capacity: what the programs print many
// times a second. Commas follow from the structure; numbers that JSON cannot hold become 0.
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
  /// Rounded to `decimals` places, trailing zeros dropped.
  void value(double number, int decimals = 3);
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) void value(Integer number) {
    separate();
    text_ += std::to_string(number);
    comma_ = true;
  }
  /// Text that is JSON already.
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
  bool comma_ = false;  // the next value or key needs one in front
};

/// `text` with quotes around it and what needs it escaped.
void append_json_string(std::string& out, std::string_view text);

}  // namespace app
