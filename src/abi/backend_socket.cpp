#include "abi/backend_socket.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/assert.h"
#include "platform/wait.h"

namespace lattice::abi {
namespace {

using socket::Datagram;
using socket::Reading;

constexpr uint32_t kLeastDatagramBytes = 1200;  // every path carries it (spec M-10)
constexpr uint32_t kMostDatagramBytes = 1472;

static_assert(LATTICE_BACKEND_BUFFER_BYTES == socket::kMaxDatagramBytes);
static_assert(LATTICE_BACKENDS_MAX + 1 == base::kMaxRoutes);
static_assert(LATTICE_PATH_OPAQUE == static_cast<int>(base::PathForm::kOpaque));
static_assert(LATTICE_PATH_IPV4 == static_cast<int>(base::PathForm::kIpv4));
static_assert(LATTICE_PATH_IPV6 == static_cast<int>(base::PathForm::kIpv6));
static_assert(sizeof(lattice_path) == sizeof(base::PathId));
static_assert(offsetof(lattice_path, form) == offsetof(base::PathId, form));
static_assert(offsetof(lattice_path, number) == offsetof(base::PathId, number));
static_assert(offsetof(lattice_path, bytes) == offsetof(base::PathId, bytes));

bool is_v4_mapped(const lattice_path& path) {
  constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(path.bytes, kPrefix, sizeof kPrefix) == 0;
}

}  // namespace

lattice_path public_path(const base::PathId& path) {
  return std::bit_cast<lattice_path>(path);
}

base::PathId path_from(const lattice_path& path) {
  const bool is_legal = path.form == LATTICE_PATH_OPAQUE ||
                        (path.form == LATTICE_PATH_IPV4 && is_v4_mapped(path)) ||
                        (path.form == LATTICE_PATH_IPV6 && !is_v4_mapped(path));
  return is_legal ? std::bit_cast<base::PathId>(path) : base::PathId{};
}

BackendSocket::BackendSocket(const lattice_datagram_backend& backend, uint8_t route)
    : backend_(backend), route_(route) {
  LATTICE_CHECK(backend.receive != nullptr && backend.send != nullptr && route != base::kUdpRoute);
}

BackendSocket::~BackendSocket() {
  if (owns_ && backend_.close != nullptr) backend_.close(backend_.ctx);
}

bool BackendSocket::is_own(const lattice_backend_datagram& datagram) {
  if (datagram.bytes > socket::kMaxDatagramBytes) {
    ++stats_.backend_oversize;
    return false;
  }
  const bool is_of_route = datagram.path.route == 0 || datagram.path.route == route_;
  if (is_of_route && base::is_path(path_from(datagram.path))) return true;
  ++stats_.backend_bad_path;
  return false;
}

Reading BackendSocket::receive_batch(std::span<Datagram> out) {
  const auto room = static_cast<uint32_t>(out.size());
  for (uint32_t i = 0; i < room; ++i) batch_[i] = {{}, 0, out[i].data};
  const uint32_t filled = backend_.receive(backend_.ctx, batch_.data(), room);
  if (filled > room) {
    ++stats_.backend_overrun;
    return {};
  }
  size_t count = 0;
  for (uint32_t i = 0; i < filled; ++i) {
    if (!is_own(batch_[i])) continue;
    // A refused entry leaves a gap, and the buffers of `out` stay where they are.
    if (count != i) std::memcpy(out[count].data, out[i].data, batch_[i].bytes);
    out[count].peer = path_from(batch_[i].path);
    out[count].peer.route = route_;
    out[count].size = batch_[i].bytes;
    out[count].waited_ns = 0;
    stats_.bytes_received += batch_[i].bytes;
    ++count;
  }
  return {count, filled - count, filled == room};
}

Reading BackendSocket::receive(std::span<Datagram> out, uint64_t) {
  Reading reading;
  reading.may_have_more = true;
  while (reading.may_have_more && reading.count + reading.refused < out.size()) {
    const size_t room = std::min<size_t>(out.size() - reading.count - reading.refused, kBatch);
    const Reading batch = receive_batch(out.subspan(reading.count, room));
    reading.count += batch.count;
    reading.refused += batch.refused;
    reading.may_have_more = batch.may_have_more;
  }
  stats_.datagrams_received += reading.count;
  note_datagrams(reading.count + reading.refused);
  return reading;
}

// A back end that stops at a datagram could not send that one: it says nothing of those behind, which go to
// others.
size_t BackendSocket::send_batch(uint32_t count) {
  size_t taken = 0;
  for (uint32_t next = 0; next < count;) {
    const uint32_t left = count - next;
    uint32_t took = backend_.send(backend_.ctx, batch_.data() + next, left);
    if (took > left) {
      ++stats_.backend_overrun;
      took = left;
    }
    taken += took;
    next += took;
    if (next == count) break;
    ++stats_.send_full;
    ++next;
  }
  return taken;
}

size_t BackendSocket::send(std::span<const Datagram> datagrams, uint64_t) {
  size_t taken = 0;
  size_t next = 0;
  while (next < datagrams.size()) {
    uint32_t count = 0;
    for (; next < datagrams.size() && count < kBatch; ++next) {
      const Datagram& datagram = datagrams[next];
      if (datagram.size > socket::kMaxDatagramBytes) {
        ++stats_.send_oversize;
        continue;
      }
      batch_[count++] = {public_path(datagram.peer), datagram.size, datagram.data};
      stats_.bytes_sent += datagram.size;
    }
    taken += send_batch(count);
  }
  stats_.datagrams_sent += taken;
  return taken;
}

intptr_t BackendSocket::stated_descriptor() const {
  return backend_.descriptor == nullptr ? -1 : std::max<intptr_t>(backend_.descriptor(backend_.ctx), -1);
}

intptr_t BackendSocket::descriptor() const {
  return empty_wakes_ < kMaxEmptyWakes ? stated_descriptor() : -1;
}

void BackendSocket::on_wake() const {
  const intptr_t waiting = descriptor();
  is_woken_ = waiting >= 0 && platform::wait_readable(std::span(&waiting, 1), 0);
}

// A descriptor that stays readable without a datagram, such as one that is closed, would keep the program
// from sleeping.
void BackendSocket::note_datagrams(size_t count) {
  if (count != 0) {
    empty_wakes_ = 0;
  } else if (is_woken_ && ++empty_wakes_ == kMaxEmptyWakes) {
    ++stats_.backend_bad_descriptor;
  }
  is_woken_ = false;
}

bool BackendSocket::wait_readable(uint64_t timeout_ns) const {
  const intptr_t waiting = descriptor();
  if (waiting >= 0) {
    is_woken_ = platform::wait_readable(std::span(&waiting, 1), timeout_ns);
    return is_woken_;
  }
  platform::wait_readable({}, std::min(timeout_ns, socket::kLookAgainNs));
  return true;
}

uint32_t BackendSocket::largest_datagram(const base::PathId& path) const {
  if (path.route != route_) return 0;
  if (backend_.largest_datagram == nullptr) return kLeastDatagramBytes;
  const lattice_path asked = public_path(path);
  const uint32_t bytes = backend_.largest_datagram(backend_.ctx, &asked);
  if (bytes >= kLeastDatagramBytes && bytes <= kMostDatagramBytes) return bytes;
  ++stats_.backend_bad_limit;
  return kLeastDatagramBytes;
}

std::optional<uint64_t> BackendSocket::rate_subject(const base::PathId& path) const {
  if (backend_.rate_subject == nullptr) return std::nullopt;
  const lattice_path asked = public_path(path);
  return backend_.rate_subject(backend_.ctx, &asked);
}

}  // namespace lattice::abi
