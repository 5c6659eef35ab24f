// What the programs need of the operating system: signals as a flag, clocks, small files read whole, and a
// process that ends with its parent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace app {

/// Opens /dev/null where the standard input, output or error is closed: another file would get its number,
/// and what is meant for the one would go to the other. Call it first.
void open_standard_descriptors();

/// From now on the signals that would end this process only count as stop requests, except those of a fault
/// of its own, such as SIGSEGV. After `most` of SIGINT, SIGTERM and SIGQUIT the next ends the process at once
/// with kExitInterrupted; SIGHUP is not among those: a closed terminal sends several. A SIGHUP that was
/// ignored before (nohup) stays ignored. SIGPIPE and SIGXFSZ are ignored: writes report the failure.
void catch_stop_signals(int most = 1);
bool stop_requested();
/// How many stop requests came.
int stop_requests();

/// From now on SIGHUP and SIGUSR1 are requests to a service, and neither stops it.
void catch_service_signals();
/// Whether SIGHUP came since the last call: read the settings again.
bool take_reload_request();
/// Whether SIGUSR1 came since the last call: log statistics.
bool take_dump_request();

/// Starts a process that removes `folder` and all in it once this process has ended, however it ends. Returns
/// false when it could not be started, and errno says why. Call it before there are threads.
bool remove_folder_at_end(const std::string& folder);

/// Stops this process, as SIGTERM does, when its parent ends, if the parent asked for it by
/// LATTICE_PARENT_PID.
void die_with_parent();

/// From now on a program that gets no memory says so and ends with kExitFailed.
void say_when_out_of_memory();

/// Waits until the system has entropy for keys, which early in its start it has not, and says so once through
/// `tell`. Returns false when a stop signal came first.
bool wait_for_entropy(void (*tell)());

uint64_t monotonic_ns();
uint64_t unix_ms();
/// The Unix time in milliseconds, with fractions: for intervals between processes of one machine.
double unix_time_ms();
/// Sleeps; returns early when a signal arrives.
void sleep_ns(uint64_t ns);
void sleep_until_ns(uint64_t monotonic_time_ns);
/// As above, and returns early when `fd` becomes readable or reaches its end. With -1 it only sleeps.
void sleep_or_readable(int fd, uint64_t ns);

/// Returns false when the file is missing or unreadable.
bool read_whole_file(const std::string& path, std::string& out);
/// Reads a file that somebody else may have put there: a pipe, a device and what is longer than `most` bytes
/// are refused, and nothing waits. Returns "", or a text that says what is wrong and what to do.
std::string read_file(const std::string& path, size_t most, std::string& out);
/// Replaces the file in one step: a reader sees the old content or the new, never a part. On failure returns
/// false, and errno says why.
bool write_whole_file(const std::string& path, std::string_view content, unsigned mode);
/// Makes the folder (mode 0700) and its parents. On failure returns false, and errno says why.
bool make_folder(const std::string& path);

/// Reads the available bytes of a non-blocking descriptor and hands out complete lines.
class LineReader {
 public:
  /// A line longer than `line_limit` is dropped and counted.
  explicit LineReader(size_t line_limit) : line_limit_(line_limit) {}
  /// Appends the complete lines that have arrived, without their newline. Returns false at the end of the
  /// stream.
  bool read(int fd, std::vector<std::string>& lines);
  uint64_t dropped_lines() const { return dropped_lines_; }

 private:
  size_t line_limit_;
  std::string partial_;
  bool skipping_ = false;
  uint64_t dropped_lines_ = 0;
};

void set_nonblocking(int fd);
/// Marks `fd` so that no child inherits it.
void close_on_exec(int fd);

}  // namespace app
