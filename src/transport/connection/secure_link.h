// The sealed packets of one established connection, either role (§3.1, §8; K-01…K-04, P-01, P-05).
//
// Receive order (K-03): parse → epoch live? → replay test → open → replay mark → hand out. Until the open
// succeeds only counters change. Numbers start at 1 per direction and never reset, also not with a new epoch,
// so one replay window serves all epochs. A packet of an older epoch is refused if its number is above the
// first accepted number of a newer epoch.
//
// Must stay true (I3): a number is taken before a packet is sealed under it, and is never returned; sending
// keys do not change while a packet with a number waits to be sealed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/crypto/aead.h"
#include "transport/crypto/key_schedule.h"
#include "transport/crypto/packet_key.h"
#include "transport/crypto/replay_window.h"
#include "transport/wire/packet_header.h"

namespace lattice::connection {

// Why a packet did not open.
enum class OpenRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_LINK(id, name, text) id,
#include "base/events.def"
  kCount,
};

/// Why a link can no longer be used and its connection must close.
enum class LinkClosed : uint8_t { kOpen, kForgeryLimit, kPacketNumbersExhausted };

/// The limits at which a link closes, and the size of its replay window. The defaults are the protocol's.
struct LinkLimits {
  uint64_t failed_opens = uint64_t{1} << 36;      ///< RFC 9001 §6.6 for this cipher.
  uint64_t packet_seq = crypto::kPacketSeqLimit;  ///< First number that is never sent.
  uint64_t replay_window_packets = crypto::kReplayWindowPackets;
};

/// The result of open_ahead(). kNotTried: open() does all the work.
enum class OpenedAhead : uint8_t { kNotTried, kAuthentic, kForged };

class SecureLink {
 public:
  struct Sealed {
    std::span<uint8_t> datagram;  ///< Into the caller's buffer; begins where the header begins.
    uint64_t packet_seq = 0;
  };
  /// A packet with its number and its header that is not sealed yet.
  struct Unsealed {
    std::span<uint8_t> datagram;  ///< The whole datagram: header, plaintext, room for the tag.
    size_t header_bytes = 0;
    uint64_t packet_seq = 0;
  };
  struct Opened {
    OpenRefusal refusal = OpenRefusal::kNone;
    wire::PacketType type = wire::PacketType::kPayload;
    uint64_t packet_seq = 0;
    uint32_t epoch = 0;            ///< The full epoch number of the key that opened it.
    bool is_newest = false;        ///< The highest number accepted so far (L-04, server_tick).
    std::span<uint8_t> plaintext;  ///< Into the datagram; empty when refused.
    explicit operator bool() const { return refusal == OpenRefusal::kNone; }
  };

  /// `master` is m_0 of the handshake; `own_role` is the role of this side. `cipher`, agreed in the
  /// handshake, serves every epoch.
  SecureLink(uint32_t protocol_id, uint64_t connection_id, crypto::Role own_role, crypto::Key master,
             const LinkLimits& limits = {}, crypto::Cipher cipher = crypto::Cipher::kChaCha20Poly1305);

  uint64_t connection_id() const { return connection_id_; }

  /// Bytes the next seal() puts in front of the plaintext: 15 … 23.
  size_t next_header_bytes() const { return wire::packet_header_bytes(next_packet_seq_); }
  /// Header and tag of the next packet.
  size_t next_overhead_bytes() const { return next_header_bytes() + crypto::kTagBytes; }
  /// The number the next seal() takes.
  uint64_t next_packet_seq() const { return next_packet_seq_; }

  /// Seals buffer[offset, offset + bytes) in place: the header goes right in front of it, the tag behind.
  /// `offset` ≥ next_header_bytes(), offset + bytes + 16 ≤ buffer.size(). `type` is a session packet's.
  /// Empty when packet numbers are exhausted; closed() then says so.
  std::optional<Sealed> seal(wire::PacketType type, std::span<uint8_t> buffer, size_t offset, size_t bytes);

  /// seal() in two halves. The second half, finish_seal(), does the work and may run later on any thread: one
  /// packet of this link after the other, by ascending number, while no other function of the link runs.
  /// Every packet begun must be finished before keys change or the link ends.
  std::optional<Unsealed> begin_seal(wire::PacketType type, std::span<uint8_t> buffer, size_t offset,
                                     size_t bytes);
  void finish_seal(const Unsealed& packet);

  /// Skips the number that the next seal() would take, and returns it. Nothing is ever sealed under that
  /// number.
  uint64_t skip_packet_seq() { return next_packet_seq_++; }

  /// Opens one received datagram in place. A refusal changes only its counter. `ahead` is the result of
  /// open_ahead() for this datagram.
  Opened open(std::span<uint8_t> datagram, OpenedAhead ahead = OpenedAhead::kNotTried);
  /// The same for a header that was already parsed: `header` and `header_bytes` are the results of
  /// wire::parse_packet_header() for this datagram and this link's protocol.
  Opened open(std::span<uint8_t> datagram, const wire::PacketHeader& header, size_t header_bytes,
              OpenedAhead ahead = OpenedAhead::kNotTried);

  /// Runs the AEAD part of open() early and in place, for a datagram that open() would accept now; kNotTried
  /// for other datagrams. Any thread may call it while no other function of the link runs. It changes no
  /// state of the link: open() later tests number, epoch and limits as usual.
  OpenedAhead open_ahead(std::span<uint8_t> datagram) const;

  /// The members that every packet reads come first and take no more.
  static constexpr size_t kHeadBytes = 136;
  /// Prefetch what else opens or seals a packet: the keys, and the mark of the next number received. Hints.
  void prefetch_for_open() const;
  void prefetch_for_seal() const;

  LinkClosed closed() const;
  uint64_t refusal_count(OpenRefusal refusal) const { return refusals_[static_cast<size_t>(refusal)]; }
  /// Highest packet number accepted; 0 before the first.
  uint64_t highest_received() const { return window_.highest(); }

  // Key epochs (§8.4; key_rotation.h). At most two are live: the newest, and the previous one until it is
  // retired.

  /// The master secret of the newest epoch. Rotation derives the next one from it.
  const crypto::Key& master() const { return keys_[newest_epoch_ % 2].master; }
  uint32_t newest_epoch() const { return newest_epoch_; }
  uint32_t send_epoch() const { return send_epoch_; }
  /// Accepts packets of epoch newest_epoch() + 1 from now on. The epoch before the newest must be retired.
  /// Erases the master of the epoch that was newest, which is no longer needed.
  void install_epoch(crypto::Key master);
  /// Seals under the newest epoch from now on, and erases the sending key of the previous epoch.
  void send_in_newest_epoch();
  /// True while packets of the epoch before the newest still open.
  bool old_epoch_live() const { return epochs_[(newest_epoch_ + 1) % 2].live; }
  /// Erases the keys of the epoch before the newest, if it is live. Sending must have moved on.
  void retire_old_epoch();

 private:
  struct Epoch {
    bool live = false;
    uint32_t number = 0;
    uint64_t first_accepted_seq = 0;  ///< Smallest number accepted under it; 0 before the first.
  };
  struct EpochKeys {
    crypto::PacketKey receive, send;
    crypto::Key master;
  };

  void fill_epoch(uint32_t number, crypto::Key master);
  const Epoch* find_epoch(uint8_t low_byte) const;
  bool overtaken_by_newer(const Epoch& epoch, uint64_t packet_seq) const;
  bool read_header(std::span<const uint8_t> datagram, wire::PacketHeader* header, size_t* header_bytes) const;
  OpenRefusal check_before_open(std::span<const uint8_t> datagram, const wire::PacketHeader& header,
                                size_t header_bytes, const Epoch** epoch) const;
  bool open_in_place(const Epoch& epoch, const wire::PacketHeader& header, size_t header_bytes,
                     std::span<uint8_t> datagram) const;
  Opened refuse(OpenRefusal refusal);

  EpochKeys& keys_of(const Epoch& epoch) { return keys_[epoch.number % 2]; }
  const EpochKeys& keys_of(const Epoch& epoch) const { return keys_[epoch.number % 2]; }

  // The members that every packet reads come first.
  uint32_t protocol_id_;
  crypto::Role own_role_;
  crypto::Cipher cipher_;
  uint64_t connection_id_;
  uint64_t next_packet_seq_ = 1;
  uint64_t failed_opens_ = 0;
  LinkLimits limits_;
  uint32_t newest_epoch_ = 0;
  uint32_t send_epoch_ = 0;
  uint32_t unsealed_count_ = 0;  ///< Packets begun and not finished.
  std::array<Epoch, 2> epochs_;
  crypto::ReplayWindow window_;
  std::array<EpochKeys, 2> keys_;
  std::array<uint64_t, static_cast<size_t>(OpenRefusal::kCount)> refusals_{};
};

}  // namespace lattice::connection
