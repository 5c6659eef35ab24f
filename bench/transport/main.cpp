// transport-end: one measured process of the transport bench, a server or its load. Started by lattice-bench,
// which pins it and reads its processor time; it can be run by hand too:
//
//   transport-end serve game lattice --clients 64          prints "port P"; SIGTERM ends it with a report
//   transport-end load game lattice --clients 64 --port P
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "transport/workloads.h"

namespace bench {
namespace {

volatile std::sig_atomic_t end_wanted = 0;

struct Workload {
  std::string_view name;
  int (*serve)(const Arguments&);
  int (*load)(const Arguments&);
};

constexpr std::array kWorkloads = {
    Workload{"game", serve_game, load_game}, Workload{"bulk", serve_bulk, load_bulk},
    Workload{"ping", serve_ping, load_ping}, Workload{"connect", serve_connect, load_connect},
    Workload{"idle", serve_idle, load_idle}, Workload{"flood", nullptr, load_flood},
};

bool parse(int argc, char** argv, Arguments* out) {
  out->contender = find_contender(argv[3]);
  if (out->contender == nullptr) return false;
  for (int i = 4; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--unreliable") {
      out->reliable = false;
      continue;
    }
    if (name == "--between") {
      out->between = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const double value = std::strtod(argv[++i], nullptr);
    if (name == "--clients") {
      out->clients = static_cast<uint32_t>(value);
    } else if (name == "--first") {
      out->first = static_cast<uint32_t>(value);
    } else if (name == "--port") {
      out->port = static_cast<uint16_t>(value);
    } else if (name == "--count") {
      out->count = static_cast<uint64_t>(value);
    } else if (name == "--rate") {
      out->rate = value;
    } else {
      return false;
    }
  }
  return out->clients >= 1 && out->clients <= 65536;
}

int run(int argc, char** argv) {
  Arguments arguments;
  if (argc < 4 || !parse(argc, argv, &arguments)) return 2;
  const bool serves = std::strcmp(argv[1], "serve") == 0;
  const auto* found = std::ranges::find_if(
      kWorkloads, [&](const Workload& w) { return w.name == std::string_view(argv[2]); });
  if (found == kWorkloads.end()) return 2;
  const auto function = serves ? found->serve : found->load;
  return function == nullptr ? 2 : function(arguments);
}

}  // namespace

void say(const char* name, double value) {
  std::printf("%s %.9g\n", name, value);
  std::fflush(stdout);
}

bool wait_for_go() {
  std::array<char, 16> line;
  return std::fgets(line.data(), line.size(), stdin) != nullptr;
}

bool should_end() {
  return end_wanted != 0;
}

}  // namespace bench

int main(int argc, char** argv) {
  struct sigaction end_action {};
  end_action.sa_handler = [](int) { bench::end_wanted = 1; };
  sigaction(SIGTERM, &end_action, nullptr);
  const int code = bench::run(argc, argv);
  if (code == 2) {
    std::fprintf(stderr,
                 "transport-end serve|load WORKLOAD CONTENDER [--clients N] [--first I] [--port P] "
                 "[--count N] [--rate R] [--unreliable] [--between]\n");
  }
  return code;
}
