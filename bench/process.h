// A process of a bench: it prints lines of "name value", and a line "go" starts it.
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
  /// The same with everything else that a plan may say.
  bool start(ChildPlan plan);
  /// Reads until the process has printed `name`; false after `seconds`, or when it ended.
  bool await(const std::string& name, double seconds);
  /// Sends the line "go".
  void go();
  /// Asks the process to end, and reads its last lines.
  void finish();
  /// The latest value that the process printed for `name`; 0 if there is none.
  double said(const std::string& name) const;
  /// The latest values of all names.
  const std::map<std::string, double>& all_said() const { return said_; }
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
