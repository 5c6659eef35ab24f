// What the programs need of the operating system: signals as a flag, clocks, whole small files, and dying
// with the parent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace app {

/// From now on SIGINT, SIGTERM and SIGHUP only raise stop_requested(). A second SIGINT or SIGTERM ends the
/// process at once with kExitInterrupted; a second SIGHUP does not, for a closed terminal sends several. A
/// SIGHUP that was ignored before (nohup) stays so. SIGPIPE is ignored: writes report the failure.
void catch_stop_signals();
bool stop_requested();

/// The second stop signal also removes these files of `folder` and the folder.
void remove_on_abort(const std::string& folder, std::span<const char* const> files);

/// Ends this process when its parent ends, if the parent asked for it by LATTICE_PARENT_PID.
void die_with_parent();

uint64_t monotonic_ns();
uint64_t unix_ms();
/// The same with fractions: for intervals between processes of one machine.
double unix_time_ms();
/// Returns early when a signal arrives.
void sleep_ns(uint64_t ns);
void sleep_until_ns(uint64_t monotonic_time_ns);
/// As above, and early when `fd` becomes readable (or has ended). -1: just sleep.
void sleep_or_readable(int fd, uint64_t ns);

/// False when the file is missing or unreadable.
bool read_whole_file(const std::string& path, std::string& out);
/// Replaces the file in one step, so that a reader sees the old or the new, never half. False: errno says
/// why.
bool write_whole_file(const std::string& path, std::string_view content, unsigned mode);
/// Makes the folder (mode 0700) and its parents. False: errno says why.
bool make_folder(const std::string& path);

/// Reads what is there from a non-blocking descriptor and hands out whole lines.
class LineReader {
 public:
  /// `line_limit`: a longer line is dropped and counted.
  explicit LineReader(size_t line_limit) : line_limit_(line_limit) {}
  /// Appends the complete lines that have arrived, without their newline. False at the end of the stream.
  bool read(int fd, std::vector<std::string>& lines);
  uint64_t dropped_lines() const { return dropped_lines_; }

 private:
  size_t line_limit_;
  std::string partial_;
  bool skipping_ = false;
  uint64_t dropped_lines_ = 0;
};

void set_nonblocking(int fd);
/// No child inherits `fd`.
void close_on_exec(int fd);

/// Writes whole lines to a descriptor that may be slow: what does not fit the pipe now is kept up to a
/// bound, and beyond it whole lines are dropped.
class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  void write_line(std::string_view line);
  /// False when the reader is gone.
  bool flush();

 private:
  static constexpr size_t kBufferedBytes = 1 << 20;
  int fd_;
  std::string pending_;
  bool closed_ = false;
};

}  // namespace app
