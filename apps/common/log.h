// Log lines on stderr. On a terminal they are coloured and look like logfmt (NO_COLOR switches the colour
// off); otherwise they are JSON lines. Every line has ts, lvl, cat and msg. A line about a tick has "tick",
// so that the lines of servers and clients can be merged. A log that nobody reads stops nobody.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "lattice/config.h"

namespace app {

struct LogField {
  LogField(std::string_view n, std::string_view v) : name(n), value(v), is_number(false) {}
  LogField(std::string_view n, const char* v) : LogField(n, std::string_view(v)) {}
  LogField(std::string_view n, const std::string& v) : LogField(n, std::string_view(v)) {}
  template <std::integral Integer>
  LogField(std::string_view n, Integer v) : name(n), value(std::to_string(v)), is_number(true) {}
  LogField(std::string_view n, double v);  // one digit behind the point

  std::string_view name;
  std::string value;
  bool is_number;
};

/// "error", "warning", "info" or "debug".
std::optional<lattice_log_level> log_level_by_name(std::string_view name);

void set_log_level(lattice_log_level level);
/// Whether lines of that level are written.
bool logs(lattice_log_level level);
void log_line(lattice_log_level level, std::string_view category, std::string_view message,
              std::initializer_list<LogField> fields = {});

/// Writing never blocks: lines that nobody takes are kept, and beyond a megabyte dropped. This tries again,
/// and says how many were dropped once there is room. Call it now and then.
void log_catch_up();

/// How many lines nobody took.
uint64_t log_lines_lost();
/// How much of the log waits to be taken.
size_t log_bytes_waiting();

/// Tries to write what is kept once more, for at most 0.1 s. Returns false when a disk did not take a part of
/// the log. Call it at the end of the program.
bool log_finish();

/// Waits for entropy, and logs that it does. Returns false when a stop signal came first.
bool log_while_waiting_for_entropy();

/// A lattice_log_fn: writes the library's log lines as this program's. Its lines of the category "connection"
/// count as debug ones: every program logs joins and leaves itself, with more fields.
void log_from_library(void* ctx, lattice_log_level level, const char* category, const char* text);

}  // namespace app
