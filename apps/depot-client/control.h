// Commands for a client, one JSON object per line, as the page sends them:
//
//   {"input":{"x","y","dash","fire","use","press","pressed_ms"}}           x, y: -1..1; press: id of a key
//                                                                          press; pressed_ms: Unix time
//   {"impair":{"direction":"up|down","delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"}}
//   {"toggle":{"prediction","smoothing","interpolation"}}                  a missing one stays as it is
//   {"preset":{"name":"wifi-busy"}}                                        both directions; "none": none
//   {"quit":true}
//
// The lines come from outside. A line that is malformed or has a value out of range is ignored and counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "client.h"

namespace app {

class Control {
 public:
  explicit Control(Client& client) : client_(client) {}
  void handle(std::string_view line);
  uint64_t ignored_lines() const { return ignored_lines_; }
  bool quit_requested() const { return quit_requested_; }

 private:
  Client& client_;
  uint64_t ignored_lines_ = 0;
  bool quit_requested_ = false;
};

}  // namespace app
