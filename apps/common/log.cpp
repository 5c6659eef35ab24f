#include "log.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "json_writer.h"
#include "process.h"
#include "record_writer.h"

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

// What is still kept when the program ends has this long to be taken.
constexpr int kLastWaitMs = 100;

class Sink {
 public:
  ~Sink() { finish(); }
  bool finish() {
    catch_up();
    pollfd waits{STDERR_FILENO, POLLOUT, 0};
    if (!writer_.idle() && poll(&waits, 1, kLastWaitMs) == 1) catch_up();
    if (!writer_.idle()) writer_.finish();
    return writer_.lost_on_disk() == 0;
  }
  void write(const std::string& line) { writer_.write_line(line); }
  void catch_up();
  uint64_t lost() const { return writer_.dropped(); }
  size_t waiting_bytes() const { return writer_.waiting_bytes(); }

 private:
  RecordWriter writer_{STDERR_FILENO};
  uint64_t reported_ = 0;  // of the dropped lines
};

Sink& sink() {
  static Sink instance;
  return instance;
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of(" =\"\t\n") != std::string_view::npos;
}

bool is_terminal() {
  static const bool is = isatty(STDERR_FILENO) == 1;
  return is;
}

std::string line_for_terminal(lattice_log_level level, std::string_view category, std::string_view message,
                              std::initializer_list<LogField> fields) {
  static const bool colour = std::getenv("NO_COLOR") == nullptr;
  std::string line = timestamp(false) + " ";
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
  return line;
}

std::string line_as_json(lattice_log_level level, std::string_view category, std::string_view message,
                         std::initializer_list<LogField> fields) {
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
  return json.text();
}

std::string make_line(lattice_log_level level, std::string_view category, std::string_view message,
                      std::initializer_list<LogField> fields) {
  return is_terminal() ? line_for_terminal(level, category, message, fields)
                       : line_as_json(level, category, message, fields);
}

void Sink::catch_up() {
  writer_.flush();
  const uint64_t dropped = writer_.dropped();
  // Nobody is told that nobody reads.
  if (!writer_.idle() || dropped == reported_ || !writer_.has_reader()) return;
  const std::string line =
      make_line(LATTICE_LOG_WARNING, "log", "lines were dropped, because nobody took them",
                {{"lines", dropped - reported_}});
  writer_.write_line(line);
  // Dropped itself, when the reader is still gone: then the next attempt says so.
  if (writer_.dropped() == dropped) reported_ = dropped;
}

}  // namespace

LogField::LogField(std::string_view n, double v) : name(n), is_number(true) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  value = text;
}

std::optional<lattice_log_level> log_level_by_name(std::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (name == kNames[i]) return static_cast<lattice_log_level>(i);
  }
  return std::nullopt;
}

void set_log_level(lattice_log_level level) {
  g_level = level;
}

bool logs(lattice_log_level level) {
  return level <= g_level;
}

void log_line(lattice_log_level level, std::string_view category, std::string_view message,
              std::initializer_list<LogField> fields) {
  if (!logs(level)) return;
  sink().catch_up();
  sink().write(make_line(level, category, message, fields));
}

void log_catch_up() {
  sink().catch_up();
}

bool log_while_waiting_for_entropy() {
  return wait_for_entropy([] {
    log_line(LATTICE_LOG_WARNING, "entropy",
             "the system has no entropy yet; the program waits, as early in the start of a machine");
  });
}

uint64_t log_lines_lost() {
  return sink().lost();
}

size_t log_bytes_waiting() {
  return sink().waiting_bytes();
}

bool log_finish() {
  return sink().finish();
}

void log_from_library(void*, lattice_log_level level, const char* category, const char* text) {
  const bool told_by_program = std::strcmp(category, "connection") == 0;
  log_line(told_by_program ? LATTICE_LOG_DEBUG : level, category, text);
}

}  // namespace app
