// What a program measures of itself, for /metrics: families of figures with names, help and labels.
//
// Names follow Prometheus: lattice_ first, base units (seconds, bytes), _total for counters. A label has few
// values, and none names a player or an address.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace app {

enum class FigureKind : uint8_t { kCounter, kGauge, kHistogram };

/// How often a value fell below each of some bounds, in ascending order.
template <size_t N>
class Histogram {
 public:
  explicit constexpr Histogram(const std::array<double, N>& bounds) : bounds_(bounds) {}
  void add(double value) {
    size_t i = 0;
    while (i < N && value > bounds_[i]) ++i;
    ++counts_[i];
    sum_ += value;
  }
  const std::array<double, N>& bounds() const { return bounds_; }
  /// Of the values above bound i - 1 and up to bound i; the last is of those above all bounds.
  const std::array<uint64_t, N + 1>& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::array<double, N> bounds_;
  std::array<uint64_t, N + 1> counts_{};
  double sum_ = 0;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Figure {
  Labels labels;
  double value = 0;
  // Of a histogram.
  std::vector<double> bounds;
  std::vector<uint64_t> counts;
};

struct FigureFamily {
  std::string name, help;
  FigureKind kind;
  std::vector<Figure> figures;
};

class Figures {
 public:
  void counter(const char* name, const char* help, double value, Labels labels = {}) {
    add(FigureKind::kCounter, name, help).push_back({std::move(labels), value, {}, {}});
  }
  void gauge(const char* name, const char* help, double value, Labels labels = {}) {
    add(FigureKind::kGauge, name, help).push_back({std::move(labels), value, {}, {}});
  }
  template <size_t N>
  void histogram(const char* name, const char* help, const Histogram<N>& of) {
    add(FigureKind::kHistogram, name, help)
        .push_back({{},
                    of.sum(),
                    {of.bounds().begin(), of.bounds().end()},
                    {of.counts().begin(), of.counts().end()}});
  }
  /// A family that may have no figure yet.
  void family(FigureKind kind, const char* name, const char* help) { add(kind, name, help); }
  const std::vector<FigureFamily>& families() const { return families_; }

 private:
  std::vector<Figure>& add(FigureKind kind, const char* name, const char* help) {
    for (FigureFamily& known : families_) {
      if (known.name == name) return known.figures;
    }
    return families_.emplace_back(FigureFamily{name, help, kind, {}}).figures;
  }
  std::vector<FigureFamily> families_;
};

/// Adds what every process has: start, processor time, memory, descriptors.
void add_process_figures(Figures& figures);

/// The Prometheus text format (0.0.4).
std::string to_prometheus_text(const Figures& figures);

}  // namespace app
