#include "platform/wait.h"

#include <poll.h>
#include <time.h>

#include <algorithm>

namespace lattice::platform {

bool wait_readable(std::span<const intptr_t> descriptors, uint64_t timeout_ns) {
  pollfd waiting[kMaxWaitDescriptors];
  const size_t count = std::min(descriptors.size(), kMaxWaitDescriptors);
  for (size_t i = 0; i < count; ++i) waiting[i] = {static_cast<int>(descriptors[i]), POLLIN, 0};
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
  return ppoll(waiting, static_cast<nfds_t>(count), &timeout, nullptr) > 0;
}

}  // namespace lattice::platform
