#include "machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace bench {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

Machine read_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    machine.cores = static_cast<unsigned>(CPU_COUNT(&allowed));
  }
  utsname names{};
  if (uname(&names) == 0) machine.kernel = names.release;
#if defined(__clang__)
  machine.compiler = "clang " __clang_version__;
#else
  machine.compiler = "gcc " __VERSION__;
#endif
  machine.build = LATTICE_BENCH_BUILD;
  double load[1] = {0};
  if (getloadavg(load, 1) == 1) machine.load_1m = load[0];
  return machine;
}

std::string read_commit() {
  std::FILE* pipe = popen("git -C '" LATTICE_BENCH_SOURCE_DIR
                          "' describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null",
                          "r");
  if (pipe == nullptr) return "unknown";
  char text[64] = {};
  const size_t got = std::fread(text, 1, sizeof text - 1, pipe);
  pclose(pipe);
  std::string commit(text, got);
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit.empty() ? "unknown" : commit;
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = read_machine();
  return machine;
}

const std::string& source_commit() {
  static const std::string commit = read_commit();
  return commit;
}

}  // namespace bench
