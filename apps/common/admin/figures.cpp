#include "admin/figures.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "process.h"

namespace app {
namespace {

prometheus::MetricType type_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::kCounter:
      return prometheus::MetricType::Counter;
    case FigureKind::kGauge:
      return prometheus::MetricType::Gauge;
    case FigureKind::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

prometheus::ClientMetric metric_of(FigureKind kind, const Figure& figure) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : figure.labels) metric.label.push_back({name, value});
  if (kind == FigureKind::kCounter) metric.counter.value = figure.value;
  if (kind == FigureKind::kGauge) metric.gauge.value = figure.value;
  if (kind != FigureKind::kHistogram) return metric;
  uint64_t count = 0;
  for (size_t i = 0; i < figure.counts.size(); ++i) {
    count += figure.counts[i];
    const double bound =
        i < figure.bounds.size() ? figure.bounds[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({count, bound});
  }
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = figure.value;
  return metric;
}

uint64_t open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  uint64_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 3;  // ".", "..", and the folder itself
}

uint64_t resident_bytes() {
  std::string text;
  unsigned long long all = 0, resident = 0;
  if (!read_whole_file("/proc/self/statm", text)) return 0;
  if (std::sscanf(text.c_str(), "%llu %llu", &all, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Initialized before main().
const double kStartS = unix_time_ms() / 1e3;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void add_process_figures(Figures& figures) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  figures.gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.", kStartS);
  figures.counter("process_cpu_seconds_total", "Processor time that the process used.",
                  seconds(used.ru_utime) + seconds(used.ru_stime));
  figures.gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.",
                static_cast<double>(resident_bytes()));
  figures.gauge("process_open_fds", "Open descriptors.", static_cast<double>(open_descriptors()));
  figures.gauge("process_max_fds", "Most descriptors that the process may have open.",
                static_cast<double>(files.rlim_cur));
}

std::string to_prometheus_text(const Figures& figures) {
  std::vector<prometheus::MetricFamily> families;
  for (const FigureFamily& family : figures.families()) {
    prometheus::MetricFamily& out = families.emplace_back();
    out.name = family.name;
    out.help = family.help;
    out.type = type_of(family.kind);
    for (const Figure& figure : family.figures) out.metric.push_back(metric_of(family.kind, figure));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace app
