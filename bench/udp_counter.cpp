// Preloaded into a measured process: counts datagrams and UDP payload bytes at the two system calls that
// Lattice and the floor move them with. Loopback has interface counters only, shared with everything else
// on the machine; a packet capture would cost the measured processor more than this addition does.
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>

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

/// Datagrams in one entry: more than one in a run that the kernel divides or has joined.
uint64_t datagrams_of(const mmsghdr& entry) {
  msghdr header = entry.msg_hdr;
  if (header.msg_control == nullptr) return 1;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != IPPROTO_UDP) continue;
    uint16_t segment_bytes = 0;  // UDP_GRO's is an int: the same low bytes first
    std::memcpy(&segment_bytes, CMSG_DATA(control), sizeof segment_bytes);
    if (segment_bytes != 0) return (entry.msg_len + segment_bytes - 1) / segment_bytes;
  }
  return 1;
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
  const int done = real_receive(fd, messages, count, flags, timeout);
  if (counters == nullptr) return done;
  add(counters->receive_calls, 1);
  if (done <= 0) return done;
  add(counters->received_datagrams, datagrams(messages, done));
  add(counters->received_bytes, payload_bytes(messages, done));
  return done;
}

__attribute__((visibility("default"))) int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  const int done = real_send(fd, messages, count, flags);
  if (counters == nullptr) return done;
  add(counters->send_calls, 1);
  if (done <= 0) return done;
  add(counters->sent_datagrams, datagrams(messages, done));
  add(counters->sent_bytes, payload_bytes(messages, done));
  return done;
}
}
