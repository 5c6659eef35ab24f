// Clocks from clock_gettime.
#include "platform/clock.h"

#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace lattice::platform {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

timespec read_clock(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) {
    // Every clock used here is mandatory; a process without them cannot keep any timer.
    std::fprintf(stderr, "lattice: clock_gettime failed (errno %d)\n", errno);
    std::abort();
  }
  return now;
}

uint64_t to_ns(const timespec& t) {
  return static_cast<uint64_t>(t.tv_sec) * kNsPerSecond + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

uint64_t monotonic_ns() {
  return to_ns(read_clock(CLOCK_MONOTONIC));
}

uint64_t unix_seconds() {
  return static_cast<uint64_t>(read_clock(CLOCK_REALTIME).tv_sec);
}

uint64_t process_cpu_ns() {
  return to_ns(read_clock(CLOCK_PROCESS_CPUTIME_ID));
}

void sleep_until_ns(uint64_t deadline_ns) {
  timespec until{};
  until.tv_sec = static_cast<time_t>(deadline_ns / kNsPerSecond);
  until.tv_nsec = static_cast<long>(deadline_ns % kNsPerSecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace lattice::platform
