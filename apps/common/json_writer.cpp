#include "json_writer.h"

#include <cmath>
#include <cstdio>

namespace app {

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  comma_ = false;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  comma_ = true;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(text_, name);
  text_ += ':';
  comma_ = false;
  return *this;
}

void JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(text_, text);
  comma_ = true;
}

void JsonWriter::value(bool truth) {
  raw(truth ? "true" : "false");
}

void JsonWriter::value(double number, int decimals) {
  separate();
  comma_ = true;
  if (!std::isfinite(number)) {
    text_ += '0';
    return;
  }
  char buffer[64];
  int size = std::snprintf(buffer, sizeof buffer, "%.*f", decimals, number);
  if (size >= static_cast<int>(sizeof buffer)) {
    text_ += '0';
    return;
  }
  if (decimals > 0) {
    while (buffer[size - 1] == '0') --size;
    if (buffer[size - 1] == '.') --size;
  }
  const std::string_view shortened(buffer, static_cast<size_t>(size));
  text_ += shortened == "-0" ? std::string_view("0") : shortened;
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  comma_ = true;
}

}  // namespace app
