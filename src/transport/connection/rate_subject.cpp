#include "transport/connection/rate_subject.h"

#include <optional>

#include "base/random.h"
#include "platform/byte_order.h"

namespace lattice::connection {

uint64_t prefix_of(const base::PathId& path) {
  const bool is_ipv4 = path.form == base::PathForm::kIpv4;
  const size_t first = is_ipv4 ? 12 : 0;
  const size_t count = is_ipv4 ? 3 : 7;
  uint64_t prefix = static_cast<uint8_t>(path.form);
  for (size_t i = 0; i < count; ++i) prefix = (prefix << 8) | path.bytes[first + i];
  return prefix;
}

size_t HashOfSubject::operator()(const RateSubject& subject) const {
  uint64_t state = subject.id ^ uint64_t { subject.route } << 56;
  return static_cast<size_t>(base::splitmix64(state));
}

RateSubjects::RateSubjects(const socket::DatagramSocket* socket, crypto::EntropySource& entropy)
    : socket_(socket) {
  if (socket == nullptr || socket->route_count() == 1) return;  // UDP alone has prefixes only
  uint8_t key[sizeof hash_key_];
  entropy.fill(key);
  hash_key_[0] = platform::load_u64_le(key);
  hash_key_[1] = platform::load_u64_le(key + 8);
}

RateSubject RateSubjects::of(const base::PathId& path) const {
  const bool is_udp = path.route == base::kUdpRoute && base::is_ip(path);
  if (!is_udp && socket_ != nullptr) {
    if (const std::optional<uint64_t> stated = socket_->rate_subject(path))
      return {*stated, *stated, path.route};
  }
  if (base::is_ip(path)) {
    const uint64_t prefix = prefix_of(path);
    const int host_bits = path.form == base::PathForm::kIpv4 ? 24 - 16 : 56 - 32;
    return {prefix, prefix >> host_bits, path.route};
  }
  const uint64_t itself = hash(path);
  return {itself, itself, path.route};
}

// Keyed, so that nobody can choose a path that shares the limits of another.
uint64_t RateSubjects::hash(const base::PathId& path) const {
  uint64_t state = platform::load_u64_le(path.bytes.data()) ^ hash_key_[0];
  state = base::splitmix64(state) ^ platform::load_u64_le(path.bytes.data() + 8);
  state = base::splitmix64(state) ^ hash_key_[1] ^ path.number;
  return base::splitmix64(state);
}

}  // namespace lattice::connection
