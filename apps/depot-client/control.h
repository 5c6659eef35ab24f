// Commands for a client, one JSON object per line, as the page sends them:
//
//   {"input":{"x","y","dash","fire","use","press","pressed_ms"}}           x, y in -1..1; press: id of the
//   key
//                                                                          that went down, and when (Unix ms)
//   {"impair":{"direction":"up|down","delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"}}
//   {"toggle":{"prediction","smoothing","interpolation"}}                  missing ones stay
//   {"preset":{"name":"wifi-busy"}}                                        both directions; "none": perfect
//   {"quit":true}
//
// The lines come from outside: whatever is malformed or out of range is ignored and counted.
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
