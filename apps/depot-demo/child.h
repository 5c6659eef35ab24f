// A child process with pipes to its stdin and from its stdout. It ends when this process ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "process.h"

namespace app {

class Child {
 public:
  Child() = default;
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  /// Kills the child if it still runs.
  ~Child();

  /// Starts `program` with `arguments`. `first_lines` are in its stdin before it runs. Returns "" or the
  /// reason of a failure.
  std::string start(const std::string& program, const std::vector<std::string>& arguments,
                    std::string_view first_lines);

  void send_line(std::string_view line);
  /// Appends the lines that the child has printed since the last call.
  void read_lines(std::vector<std::string>& lines);

  bool running();
  /// The child's exit code once it has ended; 128 + signal when a signal killed it.
  int exit_code() const { return exit_code_; }
  void signal(int number);
  const std::string& name() const { return name_; }
  int output_fd() const { return out_fd_; }

 private:
  void close_pipes();

  std::string name_;
  pid_t pid_ = -1;
  int in_fd_ = -1;
  int out_fd_ = -1;
  int exit_code_ = 0;
  std::string pending_;
  LineReader reader_{4 << 20};
};

}  // namespace app
