// What a program tells systemd, if systemd started it (sd_notify(3)).
#pragma once

#include <cstdint>
#include <string>

namespace app {

class SystemManager {
 public:
  SystemManager();
  /// Says something like "READY=1". Does nothing when nobody listens.
  void tell(const std::string& state) const;
  /// Says that the program works, as often as the manager wants to hear it. Cheap.
  void beat(uint64_t now_ns);

 private:
  std::string socket_;  // a path, or '\0' and a name
  uint64_t interval_ns_ = 0;
  uint64_t next_ns_ = 0;
};

}  // namespace app
