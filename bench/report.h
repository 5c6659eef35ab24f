// The results of one bench. Every metric is sampled once per repetition; the report states the median, and
// beside it the smallest and the largest sample, because a number without its spread says little.
//
// Metric names are flat and end in their unit (game64_server_cpu_ms_per_client_s); ratios have no unit.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

class Report {
 public:
  void workload(std::string_view name, double value);
  void workload(std::string_view name, std::string_view text);
  void metric(std::string_view name, double sample) { add(metrics_, name, sample); }
  void ratio(std::string_view name, double sample) { add(ratios_, name, sample); }

  /// One JSON object on one line: {"bench","machine","commit","workload","metrics","ratios","spread"}, where
  /// spread gives [smallest, largest, repetitions] per metric and ratio.
  std::string json(std::string_view bench) const;
  void print_table(std::string_view bench, std::FILE* out) const;

 private:
  struct Series {
    std::string name;
    std::vector<double> samples;
    double median() const;
    double smallest() const;
    double largest() const;
  };
  static void add(std::vector<Series>& to, std::string_view name, double sample);

  std::vector<std::pair<std::string, std::string>> workload_;  // name and JSON value, as set
  std::vector<Series> metrics_;
  std::vector<Series> ratios_;
};

/// `text` as a JSON string with its quotes.
std::string json_string(std::string_view text);
/// Six significant digits; not-a-number and infinities become 0.
std::string json_number(double value);

}  // namespace bench
