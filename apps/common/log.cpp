#include "log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "json_writer.h"

namespace app {
namespace {

lattice_log_level g_level = LATTICE_LOG_INFO;

constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
constexpr const char* kShort[] = {"ERR", "WRN", "INF", "DBG"};
constexpr const char* kColours[] = {"\033[31m", "\033[33m", "\033[32m", "\033[90m"};

std::string timestamp(bool full) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[48];
  const size_t used = std::strftime(text, sizeof text, full ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &parts);
  std::snprintf(text + used, sizeof text - used, full ? ".%03ldZ" : ".%03ld", now.tv_nsec / 1000000);
  return text;
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of(" =\"\t\n") != std::string_view::npos;
}

}  // namespace

std::optional<lattice_log_level> log_level_by_name(std::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (name == kNames[i]) return static_cast<lattice_log_level>(i);
  }
  return std::nullopt;
}

void set_log_level(lattice_log_level level) {
  g_level = level;
}

void log_line(lattice_log_level level, std::string_view category, std::string_view message,
              std::initializer_list<LogField> fields) {
  if (level > g_level) return;
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  static const bool colour = terminal && std::getenv("NO_COLOR") == nullptr;
  std::string line;
  if (terminal) {
    line = timestamp(false) + " ";
    line += colour ? std::string(kColours[level]) + kShort[level] + "\033[0m" : kShort[level];
    line.append(" ").append(category).append(": ").append(message);
    for (const LogField& field : fields) {
      line.append(" ").append(field.name).append("=");
      if (needs_quotes(field.value)) {
        append_json_string(line, field.value);
      } else {
        line += field.value;
      }
    }
  } else {
    JsonWriter json;
    json.begin_object();
    json.member("ts", timestamp(true));
    json.member("lvl", kNames[level]);
    json.member("cat", category);
    json.member("msg", message);
    for (const LogField& field : fields) {
      json.key(field.name);
      if (field.is_number) {
        json.raw(field.value);
      } else {
        json.value(std::string_view(field.value));
      }
    }
    json.end_object();
    line = json.text();
  }
  line += '\n';
  // One write per line, so that lines of several processes do not mix.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void log_from_library(void*, lattice_log_level level, const char* category, const char* text) {
  log_line(level, category, text);
}

}  // namespace app
