#include "transport/connection/secure_link.h"

#include "base/assert.h"
#include "base/compiler.h"

namespace lattice::connection {

SecureLink::SecureLink(uint32_t protocol_id, uint64_t connection_id, crypto::Role own_role,
                       crypto::Key master, const LinkLimits& limits, crypto::Cipher cipher)
    : protocol_id_(protocol_id),
      own_role_(own_role),
      cipher_(cipher),
      connection_id_(connection_id),
      limits_(limits),
      window_(limits.replay_window_packets) {
  LATTICE_CHECK(connection_id != 0 && limits.packet_seq <= crypto::kPacketSeqLimit);
  LATTICE_ASSERT(static_cast<const uint8_t*>(window_.hot_end()) - reinterpret_cast<uint8_t*>(this) <=
                 static_cast<ptrdiff_t>(kHeadBytes));
  fill_epoch(0, std::move(master));
}

void SecureLink::fill_epoch(uint32_t number, crypto::Key master) {
  const crypto::Role peer =
      own_role_ == crypto::Role::kClient ? crypto::Role::kServer : crypto::Role::kClient;
  Epoch& epoch = epochs_[number % 2];
  LATTICE_CHECK(!epoch.live);
  epoch.live = true;
  epoch.number = number;
  epoch.first_accepted_seq = 0;
  EpochKeys& keys = keys_of(epoch);
  keys.send = crypto::PacketKey(cipher_, crypto::traffic_key(master, own_role_, number));
  keys.receive = crypto::PacketKey(cipher_, crypto::traffic_key(master, peer, number));
  keys.master = std::move(master);
  newest_epoch_ = number;
}

void SecureLink::install_epoch(crypto::Key master) {
  EpochKeys& last = keys_[newest_epoch_ % 2];
  fill_epoch(newest_epoch_ + 1, std::move(master));
  last.master.erase();
}

void SecureLink::send_in_newest_epoch() {
  LATTICE_CHECK(unsealed_count_ == 0);
  send_epoch_ = newest_epoch_;
  keys_[(newest_epoch_ + 1) % 2].send.erase();
}

void SecureLink::retire_old_epoch() {
  Epoch& old = epochs_[(newest_epoch_ + 1) % 2];
  if (!old.live) return;
  LATTICE_CHECK(send_epoch_ == newest_epoch_);
  keys_of(old).receive.erase();
  old.live = false;
}

void SecureLink::prefetch_for_open() const {
  keys_[newest_epoch_ % 2].receive.prefetch();
  window_.prefetch();
}

void SecureLink::prefetch_for_seal() const {
  keys_[send_epoch_ % 2].send.prefetch();
}

LinkClosed SecureLink::closed() const {
  if (failed_opens_ >= limits_.failed_opens) return LinkClosed::kForgeryLimit;
  if (next_packet_seq_ >= limits_.packet_seq) return LinkClosed::kPacketNumbersExhausted;
  return LinkClosed::kOpen;
}

std::optional<SecureLink::Unsealed> SecureLink::begin_seal(wire::PacketType type, std::span<uint8_t> buffer,
                                                           size_t offset, size_t bytes) {
  const size_t header_bytes = next_header_bytes();
  LATTICE_CHECK(wire::is_session_packet(type) && offset >= header_bytes && buffer.size() >= offset);
  LATTICE_CHECK(buffer.size() - offset >= bytes + crypto::kTagBytes);
  if (next_packet_seq_ >= limits_.packet_seq) return std::nullopt;

  wire::PacketHeader header;
  header.protocol_id = protocol_id_;
  header.type = type;
  header.connection_id = connection_id_;
  header.key_epoch = static_cast<uint8_t>(send_epoch_);
  header.packet_seq = next_packet_seq_++;

  const std::span<uint8_t> datagram =
      buffer.subspan(offset - header_bytes, header_bytes + bytes + crypto::kTagBytes);
  const size_t written = wire::encode_packet_header(header, datagram.first(header_bytes));
  LATTICE_CHECK(written == header_bytes);
  ++unsealed_count_;
  return Unsealed{datagram, header_bytes, header.packet_seq};
}

void SecureLink::finish_seal(const Unsealed& packet) {
  const Epoch& epoch = epochs_[send_epoch_ % 2];
  LATTICE_CHECK(unsealed_count_ != 0 && epoch.live && epoch.number == send_epoch_);
  --unsealed_count_;
  keys_of(epoch).send.seal_in_place(crypto::make_nonce(packet.packet_seq, static_cast<uint8_t>(send_epoch_)),
                                    packet.datagram.first(packet.header_bytes),
                                    packet.datagram.subspan(packet.header_bytes));
}

std::optional<SecureLink::Sealed> SecureLink::seal(wire::PacketType type, std::span<uint8_t> buffer,
                                                   size_t offset, size_t bytes) {
  const std::optional<Unsealed> packet = begin_seal(type, buffer, offset, bytes);
  if (!packet) return std::nullopt;
  finish_seal(*packet);
  return Sealed{packet->datagram, packet->packet_seq};
}

const SecureLink::Epoch* SecureLink::find_epoch(uint8_t low_byte) const {
  for (const Epoch& epoch : epochs_) {
    if (epoch.live && static_cast<uint8_t>(epoch.number) == low_byte) return &epoch;
  }
  return nullptr;
}

bool SecureLink::overtaken_by_newer(const Epoch& epoch, uint64_t packet_seq) const {
  if (epoch.number == newest_epoch_) return false;
  const uint64_t first_of_newer = epochs_[newest_epoch_ % 2].first_accepted_seq;
  return first_of_newer != 0 && packet_seq > first_of_newer;
}

bool SecureLink::read_header(std::span<const uint8_t> datagram, wire::PacketHeader* header,
                             size_t* header_bytes) const {
  return wire::parse_packet_header(datagram, protocol_id_, header, header_bytes) == wire::HeaderStatus::kOk;
}

OpenRefusal SecureLink::check_before_open(std::span<const uint8_t> datagram, const wire::PacketHeader& header,
                                          size_t header_bytes, const Epoch** epoch) const {
  if (datagram.size() < header_bytes + crypto::kTagBytes) return OpenRefusal::kMalformed;
  if (!wire::is_session_packet(header.type)) return OpenRefusal::kNotSessionPacket;
  if (header.connection_id != connection_id_) return OpenRefusal::kForeignConnection;
  if (failed_opens_ >= limits_.failed_opens) return OpenRefusal::kForgeryLimit;
  *epoch = find_epoch(header.key_epoch);
  if (*epoch == nullptr) return OpenRefusal::kUnknownEpoch;
  switch (window_.test(header.packet_seq)) {
    case crypto::Replay::kFresh:
      break;
    case crypto::Replay::kDuplicate:
      return OpenRefusal::kDuplicate;
    case crypto::Replay::kTooOld:
      return OpenRefusal::kTooOld;
    case crypto::Replay::kOutOfRange:
      return OpenRefusal::kSequenceRange;
  }
  return overtaken_by_newer(**epoch, header.packet_seq) ? OpenRefusal::kLateOldEpoch : OpenRefusal::kNone;
}

SecureLink::Opened SecureLink::refuse(OpenRefusal refusal) {
  ++refusals_[static_cast<size_t>(refusal)];
  Opened refused;
  refused.refusal = refusal;
  return refused;
}

bool SecureLink::open_in_place(const Epoch& epoch, const wire::PacketHeader& header, size_t header_bytes,
                               std::span<uint8_t> datagram) const {
  return keys_of(epoch).receive.open_in_place(crypto::make_nonce(header.packet_seq, header.key_epoch),
                                              datagram.first(header_bytes), datagram.subspan(header_bytes));
}

OpenedAhead SecureLink::open_ahead(std::span<uint8_t> datagram) const {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  const Epoch* epoch = nullptr;
  // A datagram that is refused now is also refused later, unless its epoch begins meanwhile: open() decides.
  if (!read_header(datagram, &header, &header_bytes) ||
      check_before_open(datagram, header, header_bytes, &epoch) != OpenRefusal::kNone) {
    return OpenedAhead::kNotTried;
  }
  return open_in_place(*epoch, header, header_bytes, datagram) ? OpenedAhead::kAuthentic
                                                               : OpenedAhead::kForged;
}

SecureLink::Opened SecureLink::open(std::span<uint8_t> datagram, OpenedAhead ahead) {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  if (!read_header(datagram, &header, &header_bytes)) return refuse(OpenRefusal::kMalformed);
  return open(datagram, header, header_bytes, ahead);
}

SecureLink::Opened SecureLink::open(std::span<uint8_t> datagram, const wire::PacketHeader& header,
                                    size_t header_bytes, OpenedAhead ahead) {
  const Epoch* found = nullptr;
  const OpenRefusal refusal = check_before_open(datagram, header, header_bytes, &found);
  if (refusal != OpenRefusal::kNone) return refuse(refusal);

  // open_ahead() used the key of this epoch too. Two rotations cannot happen within one batch, so the epoch
  // byte still means the same epoch.
  const bool authentic = ahead == OpenedAhead::kNotTried
                             ? open_in_place(*found, header, header_bytes, datagram)
                             : ahead == OpenedAhead::kAuthentic;
  if (!authentic) {
    ++failed_opens_;
    return refuse(OpenRefusal::kNotAuthentic);
  }
  Epoch& epoch = epochs_[found->number % 2];
  Opened opened;
  opened.type = header.type;
  opened.packet_seq = header.packet_seq;
  opened.epoch = epoch.number;
  opened.is_newest = header.packet_seq > window_.highest();
  opened.plaintext = datagram.subspan(header_bytes, datagram.size() - header_bytes - crypto::kTagBytes);
  window_.mark(header.packet_seq);
  if (epoch.first_accepted_seq == 0 || header.packet_seq < epoch.first_accepted_seq) {
    epoch.first_accepted_seq = header.packet_seq;
  }
  return opened;
}

}  // namespace lattice::connection
