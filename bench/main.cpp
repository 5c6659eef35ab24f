// lattice-bench: runs one bench and prints a table, or one JSON object.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "machine.h"
#include "registry.h"

namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

constexpr const char* kUsage =
    "Measures Lattice on this machine.\n"
    "\n"
    "  ./lattice bench --list\n"
    "  ./lattice bench NAME [--json] [options]\n"
    "\n"
    "Options:\n"
    "  --json             one JSON object on stdout instead of a table\n"
    "  --reps N           repetitions, 1..100 (default 3); the median and the spread are reported\n"
    "  --seconds S        length of each measured window, 0.1..600 (default 10)\n"
    "  --warmup S         before the first window, 0..600 (default 3)\n"
    "  --clients N[,N…]   demo-load: how many bots, 1..1024 (default 64,256)\n"
    "  --no-floor         demo-load: skip the floor and its ratios\n"
    "  --traces DIR       congestion: also the recorded links *.up and *.down of this folder\n"
    "  --data FILE        snapshots: a recording of cubes (bench/recording.h), perhaps packed by xz\n"
    "  --quick            only to see that it runs: 8 clients, one short repetition\n"
    "\n"
    "./lattice builds what it measures by a profile (./lattice optimize), but not for --quick.\n"
    "\n"
    "Exit codes: 0 measured, 1 could not measure, 2 command line.\n";

/// Parses a whole number or decimal in [min, max].
bool parse(const char* text, double min, double max, double* out) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || !(value >= min && value <= max)) return false;
  *out = value;
  return true;
}

bool parse_clients(std::string text, std::vector<uint32_t>* out) {
  out->clear();
  while (!text.empty()) {
    const size_t comma = text.find(',');
    double value = 0;
    if (!parse(text.substr(0, comma).c_str(), 1, 1024, &value)) return false;
    out->push_back(static_cast<uint32_t>(value));
    text = comma == std::string::npos ? "" : text.substr(comma + 1);
  }
  return !out->empty();
}

int usage_error(const std::string& sentence) {
  std::fprintf(stderr, "lattice-bench: %s\nlattice-bench --help shows the options.\n", sentence.c_str());
  return kExitUsage;
}

int list() {
  for (const bench::Bench& bench : bench::benches()) std::printf("%-12s %s\n", bench.name, bench.summary);
  return kExitOk;
}

struct CommandLine {
  std::string name;
  bool json = false;
  bench::Options options;
};

/// "" or what is wrong with argument `i`; advances past the argument's value.
std::string take_argument(int argc, char** argv, int* i, CommandLine* line) {
  const std::string argument = argv[*i];
  bench::Options& options = line->options;
  const auto number = [&](double min, double max, double* out) {
    return *i + 1 < argc && parse(argv[++*i], min, max, out) ? ""
                                                             : argument + " needs a number in its range.";
  };
  if (argument == "--json") {
    line->json = true;
  } else if (argument == "--no-floor") {
    options.with_floor = false;
  } else if (argument == "--quick") {
    options.quick = true;
    options.repetitions = 1;
    options.seconds = 0.5;
    options.warmup_s = 0.2;
    options.clients = {8};
  } else if (argument == "--reps") {
    double value = 0;
    const std::string problem = number(1, 100, &value);
    options.repetitions = static_cast<uint32_t>(value);
    return problem;
  } else if (argument == "--seconds") {
    return number(0.1, 600, &options.seconds);
  } else if (argument == "--warmup") {
    return number(0, 600, &options.warmup_s);
  } else if (argument == "--clients") {
    if (*i + 1 >= argc || !parse_clients(argv[++*i], &options.clients)) {
      return "--clients needs numbers in 1..1024, such as 64,256.";
    }
  } else if (argument == "--traces") {
    if (*i + 1 >= argc) return "--traces needs a folder.";
    options.traces = argv[++*i];
  } else if (argument == "--data") {
    if (*i + 1 >= argc) return "--data needs a file.";
    options.data = argv[++*i];
  } else if (argument.starts_with("-") || !line->name.empty()) {
    return "'" + argument + "' is not understood.";
  } else {
    line->name = argument;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0) return list();
    if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) {
      std::fputs(kUsage, stdout);
      return kExitOk;
    }
    if (const std::string problem = take_argument(argc, argv, &i, &line); !problem.empty()) {
      return usage_error(problem);
    }
  }
  if (line.name.empty()) return usage_error("name a bench; --list shows them.");
  for (const bench::Bench& bench : bench::benches()) {
    if (line.name != bench.name) continue;
    bench::this_machine();  // the load average before the bench adds to it
    bench::Report report;
    if (const std::string problem = bench.run(line.options, report); !problem.empty()) {
      std::fprintf(stderr, "lattice-bench: %s: %s\n", bench.name, problem.c_str());
      return kExitFailed;
    }
    if (line.json) {
      std::printf("%s\n", report.json(bench.name).c_str());
    } else {
      report.print_table(bench.name, stdout);
    }
    return kExitOk;
  }
  return usage_error("there is no bench '" + line.name + "'; --list shows them.");
}
