// The figures of a game server for /metrics. docs/operate.md lists them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "admin/figures.h"
#include "server.h"

namespace app {

class ServerFigures {
 public:
  /// So many ticks took so long each.
  void ticks_ran(uint32_t ticks, double each_s, double budget_s);
  /// Looks at every connection. Call it once a second.
  void sample(Server& server);
  void config_reloaded(bool worked) { ++(worked ? reloads_ : failed_reloads_); }
  void telemetry_lost(uint64_t lines) { telemetry_lost_ = lines; }

  Figures collect(Server& server, bool is_draining) const;

 private:
  Histogram<11> tick_s_{{0.0005, 0.001, 0.002, 0.004, 0.008, 0.0125, 0.0167, 0.025, 0.05, 0.1, 0.25}};
  Histogram<10> rtt_s_{{0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.35, 0.5}};
  Histogram<8> jitter_s_{{0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1}};
  Histogram<8> queue_s_{{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1}};
  uint64_t ticks_ = 0;
  uint64_t overruns_ = 0;
  uint64_t reloads_ = 0;
  uint64_t failed_reloads_ = 0;
  uint64_t telemetry_lost_ = 0;
};

}  // namespace app
