// A measured process: started pinned to one processor, read from outside through procfs, ended by signal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct ChildPlan {
  std::vector<std::string> arguments;            // [0] is the program
  int cpu = -1;                                  // pinned to it; -1: anywhere
  std::vector<std::string> environment;          // "NAME=value", added to this process's
  std::vector<std::pair<int, int>> descriptors;  // this process's number -> the child's number
};

class Child {
 public:
  Child() = default;
  ~Child() { stop(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False when the process cannot be made; a program that cannot be executed ends with 127.
  bool start(const ChildPlan& plan);
  /// SIGTERM, then SIGKILL after two seconds. Harmless when it has ended.
  void stop();
  bool running();
  pid_t pid() const { return pid_; }

  /// Processor time of all threads so far, user and system, from schedstat (nanoseconds, not clock ticks).
  double cpu_ms() const;
  /// Resident memory in KiB.
  double rss_kb() const;

 private:
  pid_t pid_ = -1;
};

/// The folder of the programs of this build.
std::string build_folder();
/// The processors this process may use, ascending.
std::vector<int> allowed_cpus();
/// Pins the calling process, and its children unless they are pinned elsewhere.
void pin_self(int cpu);
void pin_self(std::span<const int> cpus);

uint64_t monotonic_ns();
void sleep_s(double seconds);

/// Traffic of a process that has udp_counter.so loaded.
struct UdpTraffic {
  uint64_t send_calls = 0, sent_datagrams = 0, sent_bytes = 0;
  uint64_t receive_calls = 0, received_datagrams = 0, received_bytes = 0;
  uint64_t send_ns = 0, receive_ns = 0;  // wall time inside sendmmsg and recvmmsg
};

class UdpCounter {
 public:
  UdpCounter();
  ~UdpCounter();
  UdpCounter(const UdpCounter&) = delete;
  UdpCounter& operator=(const UdpCounter&) = delete;
  /// Makes the planned process count into this object. `library` is the path of udp_counter.so.
  void attach(ChildPlan& plan, const std::string& library) const;
  UdpTraffic read() const;
  /// Begins to record every run that is sent, in place of what was recorded before; or ends it.
  void trace(bool on);
  /// The descriptor of the shared memory, for a process that repeats the recorded traffic.
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  void* page_ = nullptr;
};

}  // namespace bench
