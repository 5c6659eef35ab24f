// Preloaded into a measured process: counts datagrams and UDP payload bytes at the two system calls that
// Lattice and the floor move them with. Loopback has interface counters only, shared with everything else
// on the machine; a packet capture would cost the measured processor more than this addition does.
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "udp_counters.h"

namespace {

using bench::UdpCounters;
using ReceiveCall = int (*)(int, mmsghdr*, unsigned, int, timespec*);
using SendCall = int (*)(int, mmsghdr*, unsigned, int);

UdpCounters* shared_counters() {
  const char* number = std::getenv(bench::kUdpCounterVariable);
  if (number == nullptr) return nullptr;
  void* page = mmap(nullptr, sizeof(UdpCounters), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(number), 0);
  return page == MAP_FAILED ? nullptr : static_cast<UdpCounters*>(page);
}

UdpCounters* const counters = shared_counters();
const auto real_receive = reinterpret_cast<ReceiveCall>(dlsym(RTLD_NEXT, "recvmmsg"));
const auto real_send = reinterpret_cast<SendCall>(dlsym(RTLD_NEXT, "sendmmsg"));

void add(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Size of the datagrams of a run that the kernel divides or has joined; 0 for a single datagram.
uint16_t segment_bytes_of(const mmsghdr& entry) {
  msghdr header = entry.msg_hdr;
  if (header.msg_control == nullptr) return 0;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != IPPROTO_UDP) continue;
    uint16_t segment_bytes = 0;  // UDP_GRO's is an int: the same low bytes first
    std::memcpy(&segment_bytes, CMSG_DATA(control), sizeof segment_bytes);
    if (segment_bytes != 0) return segment_bytes;
  }
  return 0;
}

/// Datagrams in one entry.
uint64_t datagrams_of(const mmsghdr& entry) {
  const uint16_t segment_bytes = segment_bytes_of(entry);
  return segment_bytes == 0 ? 1 : (entry.msg_len + segment_bytes - 1) / segment_bytes;
}

void record(const mmsghdr* messages, int count, uint64_t time_ns) {
  for (int i = 0; i < count; ++i) {
    const uint32_t at = counters->run_count.load(std::memory_order_relaxed);
    if (at == UdpCounters::kMaxRuns) return;
    const mmsghdr& entry = messages[i];
    const uint16_t segment_bytes = segment_bytes_of(entry);
    uint16_t port = 0;  // sin_port and sin6_port have one place
    std::memcpy(&port, static_cast<const uint8_t*>(entry.msg_hdr.msg_name) + offsetof(sockaddr_in, sin_port),
                sizeof port);
    counters->runs[at] = {time_ns, entry.msg_len,
                          segment_bytes != 0 ? segment_bytes : static_cast<uint16_t>(entry.msg_len), port};
    counters->run_count.store(at + 1, std::memory_order_release);
  }
}

uint64_t datagrams(const mmsghdr* messages, int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += datagrams_of(messages[i]);
  return sum;
}

uint64_t payload_bytes(const mmsghdr* messages, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += messages[i].msg_len;  // set by the kernel in both directions
  return bytes;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags,
                                                    timespec* timeout) {
  if (counters == nullptr) return real_receive(fd, messages, count, flags, timeout);
  const uint64_t began_ns = now_ns();
  const int done = real_receive(fd, messages, count, flags, timeout);
  add(counters->receive_ns, now_ns() - began_ns);
  add(counters->receive_calls, 1);
  if (done <= 0) return done;
  add(counters->received_datagrams, datagrams(messages, done));
  add(counters->received_bytes, payload_bytes(messages, done));
  return done;
}

__attribute__((visibility("default"))) int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (counters == nullptr) return real_send(fd, messages, count, flags);
  const uint64_t began_ns = now_ns();
  const int done = real_send(fd, messages, count, flags);
  add(counters->send_ns, now_ns() - began_ns);
  add(counters->send_calls, 1);
  if (done <= 0) return done;
  add(counters->sent_datagrams, datagrams(messages, done));
  add(counters->sent_bytes, payload_bytes(messages, done));
  if (counters->traces.load(std::memory_order_relaxed) != 0) record(messages, done, began_ns);
  return done;
}
}
