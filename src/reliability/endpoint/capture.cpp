#include "reliability/endpoint/capture.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/wire/packet_header.h"

namespace lattice::reliability {
namespace {

constexpr size_t kPacketTypeAt = 4;

}  // namespace

Capture::Ring::Ring(size_t capacity)
    : capacity_(capacity), entries_(std::make_unique<Plaintext[]>(capacity)) {}

Capture::Plaintext& Capture::Ring::next() {
  Plaintext& entry = entries_[next_];
  next_ = (next_ + 1) % capacity_;
  entry.number = 0;
  return entry;
}

const Capture::Plaintext* Capture::Ring::find(const Tag& tag, uint64_t after) const {
  for (size_t back = 1; back <= capacity_; ++back) {
    const Plaintext& entry = entries_[(next_ + capacity_ - back) % capacity_];
    if (entry.number <= after) return nullptr;
    if (entry.tag == tag) return &entry;
  }
  return nullptr;
}

bool Capture::set_observer(CaptureObserver* observer) {
  if (!crypto::kHasAeadTap) return false;
  if (observer == nullptr) leave();
  observer_ = observer;
  memory_ = observer == nullptr ? nullptr : std::make_unique<Memory>();
  return true;
}

void Capture::enter() {
  if (observer_ == nullptr || is_inside_) return;
  outer_ = crypto::set_aead_tap(this);
  is_inside_ = true;
}

void Capture::leave() {
  if (!is_inside_) return;
  crypto::set_aead_tap(outer_);
  is_inside_ = false;
}

void Capture::on_plaintext(std::span<const uint8_t> aad, std::span<const uint8_t> plaintext) {
  LATTICE_ASSERT(aad.size() > kPacketTypeAt && aad.size() + plaintext.size() <= socket::kMaxDatagramBytes);
  const bool is_session = wire::is_session_packet(static_cast<wire::PacketType>(aad[kPacketTypeAt]));
  Plaintext& entry = is_session ? memory_->session.next() : memory_->handshake.next();
  std::copy(aad.begin(), aad.end(), entry.data.begin());
  std::copy(plaintext.begin(), plaintext.end(), entry.data.begin() + static_cast<ptrdiff_t>(aad.size()));
  entry.bytes = static_cast<uint32_t>(aad.size() + plaintext.size());
  memory_->open_entry = &entry;
}

void Capture::on_tag(std::span<const uint8_t> tag) {
  LATTICE_ASSERT(memory_->open_entry != nullptr && tag.size() == kTagBytes);
  std::copy(tag.begin(), tag.end(), memory_->open_entry->tag.begin());
  memory_->open_entry->number = ++memory_->plaintext_count;
  memory_->open_entry = nullptr;
}

void Capture::begin_incoming(const base::PathId& from, std::span<const uint8_t> datagram) {
  if (observer_ == nullptr) return;
  memory_->from = from;
  memory_->count_before_incoming = memory_->plaintext_count;
  memory_->incoming_bytes = datagram.size();
  memory_->is_forgotten = false;
  std::copy(datagram.begin(), datagram.end(), memory_->incoming.begin());
}

void Capture::forget_incoming() {
  if (observer_ != nullptr) memory_->is_forgotten = true;
}

void Capture::finish_incoming(uint64_t now_ns) {
  if (observer_ == nullptr || memory_->is_forgotten) return;
  // Only plaintexts of this datagram's opening count: a refused copy or forgery may end with the tag of an
  // older datagram.
  tell({now_ns, false, false, memory_->from, std::span(memory_->incoming).first(memory_->incoming_bytes)},
       memory_->count_before_incoming);
}

void Capture::outgoing(const base::PathId& to, std::span<const uint8_t> datagram, uint64_t now_ns) {
  if (observer_ != nullptr) tell({now_ns, true, false, to, datagram}, 0);
}

void Capture::tell(CapturedDatagram datagram, uint64_t after) {
  const std::span<const uint8_t> sealed = datagram.bytes;
  if (sealed.size() >= wire::kMinHeaderBytes + kTagBytes) {
    Tag tag;
    std::copy(sealed.end() - kTagBytes, sealed.end(), tag.begin());
    const bool is_session = wire::is_session_packet(static_cast<wire::PacketType>(sealed[kPacketTypeAt]));
    const Plaintext* found = (is_session ? memory_->session : memory_->handshake).find(tag, after);
    if (found != nullptr && found->bytes + kTagBytes == sealed.size()) {
      datagram.is_opened = true;
      datagram.bytes = std::span(found->data).first(found->bytes);
    }
  }
  observer_->on_captured(datagram);
}

}  // namespace lattice::reliability
