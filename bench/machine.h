// Where a number comes from: processor, kernel, compiler, build type, load, and the revision of the source.
#pragma once

#include <string>

namespace bench {

struct Machine {
  std::string cpu;
  unsigned cores = 0;
  std::string kernel;
  std::string compiler;
  std::string build;
  double load_1m = 0;  // when the bench began
};

/// Read once, at the first call.
const Machine& this_machine();

/// The abbreviated commit of the source folder, "-dirty" when tracked files differ, or "unknown".
const std::string& source_commit();

}  // namespace bench
