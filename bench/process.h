// A child that speaks in lines of "name value" and may be told to go: the processes of the transport bench.
#pragma once

#include <map>
#include <string>

#include "child.h"
#include "line_pipe.h"

namespace bench {

class Process {
 public:
  Process();
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool start(std::vector<std::string> arguments, int cpu);
  /// Reads until the process has said `name`; false after `seconds`, or when it ended.
  bool await(const std::string& name, double seconds);
  /// The line it may be waiting for.
  void go();
  /// Asks it to end, and reads what it says last.
  void finish();
  /// What it said about `name`, the latest; 0 when it did not.
  double said(const std::string& name) const;
  /// The raw child, for processor time and memory.
  Child& child() { return child_; }

 private:
  void note(const std::string& line);

  Child child_;
  LinePipe out_;
  int go_write_ = -1;
  std::map<std::string, double> said_;
};

}  // namespace bench
