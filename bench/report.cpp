#include "report.h"

#include <algorithm>
#include <cmath>

#include "machine.h"

namespace bench {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string json_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", std::isfinite(value) ? value : 0.0);
  return text;
}

double Report::Series::median() const {
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
double Report::Series::smallest() const {
  return *std::min_element(samples.begin(), samples.end());
}
double Report::Series::largest() const {
  return *std::max_element(samples.begin(), samples.end());
}

void Report::add(std::vector<Series>& to, std::string_view name, double sample) {
  const auto found = std::find_if(to.begin(), to.end(), [&](const Series& s) { return s.name == name; });
  if (found != to.end()) {
    found->samples.push_back(sample);
  } else {
    to.push_back({std::string(name), {sample}});
  }
}

void Report::workload(std::string_view name, double value) {
  workload_.emplace_back(name, json_number(value));
}
void Report::workload(std::string_view name, std::string_view text) {
  workload_.emplace_back(name, json_string(text));
}

std::string Report::json(std::string_view bench) const {
  const Machine machine = this_machine();
  std::string out = "{\"bench\":" + json_string(bench);
  out += ",\"machine\":{\"cpu\":" + json_string(machine.cpu) + ",\"cores\":" + std::to_string(machine.cores) +
         ",\"kernel\":" + json_string(machine.kernel) + ",\"compiler\":" + json_string(machine.compiler) +
         ",\"build\":" + json_string(machine.build) + ",\"load_average_1m\":" + json_number(machine.load_1m) +
         "}";
  out += ",\"commit\":" + json_string(source_commit());
  const auto object = [&](const char* name, const auto& items, const auto& item_text) {
    out += std::string(",\"") + name + "\":{";
    bool first = true;
    for (const auto& item : items) {
      if (!first) out += ',';
      first = false;
      out += item_text(item);
    }
    out += '}';
  };
  const auto median = [](const Series& s) { return json_string(s.name) + ":" + json_number(s.median()); };
  object("workload", workload_, [](const auto& w) { return json_string(w.first) + ":" + w.second; });
  object("metrics", metrics_, median);
  object("ratios", ratios_, median);
  std::vector<Series> all = metrics_;
  all.insert(all.end(), ratios_.begin(), ratios_.end());
  object("spread", all, [](const Series& s) {
    return json_string(s.name) + ":[" + json_number(s.smallest()) + "," + json_number(s.largest()) + "," +
           std::to_string(s.samples.size()) + "]";
  });
  return out + "}";
}

void Report::print_table(std::string_view bench, std::FILE* out) const {
  const Machine machine = this_machine();
  std::fprintf(out, "%.*s  at %s\n", static_cast<int>(bench.size()), bench.data(), source_commit().c_str());
  std::fprintf(out, "%s, %u cores, Linux %s, %s, %s, load average %.2f\n", machine.cpu.c_str(), machine.cores,
               machine.kernel.c_str(), machine.compiler.c_str(), machine.build.c_str(), machine.load_1m);
  for (const auto& [name, value] : workload_) std::fprintf(out, "  %s: %s\n", name.c_str(), value.c_str());
  const auto rows = [&](const char* title, const std::vector<Series>& series) {
    if (series.empty()) return;
    std::fprintf(out, "\n%-44s %12s %12s %12s\n", title, "min", "median", "max");
    for (const Series& s : series) {
      std::fprintf(out, "%-44s %12.4g %12.4g %12.4g\n", s.name.c_str(), s.smallest(), s.median(),
                   s.largest());
    }
  };
  rows("metric", metrics_);
  rows("ratio", ratios_);
}

}  // namespace bench
