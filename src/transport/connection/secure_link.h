// The sealed packets of one established association, either role (§3.1, §8; K-01…K-04, P-01, P-05).
//
// Receive order (K-03): parse → epoch live? → replay test → open → replay mark → hand out. Before the open
// succeeds nothing changes but counters. Numbers start at 1 per direction and never reset, also not with a
// new epoch, so one replay window serves all epochs; a packet of an older epoch numbered above the first one
// accepted of a newer epoch is refused.
//
// Must stay true (I3): a number is taken before it is sealed under and never given back; keys for sending do
// not change while a packet that has its number waits to be sealed.
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

// One list for the enumerators and their counter names.
#define LATTICE_OPEN_REFUSALS(X)                                                    \
  X(kMalformed, "link_malformed")                  /* header or size, P-01 */       \
  X(kNotSessionPacket, "link_not_session_packet")  /* a handshake or relay type */  \
  X(kForeignConnection, "link_foreign_connection") /* another connection_id */      \
  X(kUnknownEpoch, "link_unknown_epoch")           /* no live key has that epoch */ \
  X(kSequenceRange, "link_sequence_range")         /* 0, or 2^62 and above */       \
  X(kDuplicate, "link_duplicate")                  /* number already accepted */    \
  X(kTooOld, "link_too_old")                       /* the window or more behind */  \
  X(kLateOldEpoch, "link_late_old_epoch")          /* old key, number of the new */ \
  X(kNotAuthentic, "link_not_authentic")           /* the tag does not match */     \
  X(kForgeryLimit, "link_forgery_limit")           /* closed by LinkLimits */

enum class OpenRefusal : uint8_t {
  kNone,
#define LATTICE_X(name, text) name,
  LATTICE_OPEN_REFUSALS(LATTICE_X)
#undef LATTICE_X
      kCount,
};

/// Why a link can no longer be used and its connection must close.
enum class LinkClosed : uint8_t { kOpen, kForgeryLimit, kPacketNumbersExhausted };

/// Where a link gives up, and how late a packet it takes. The defaults are the protocol's.
struct LinkLimits {
  uint64_t failed_opens = uint64_t{1} << 36;      ///< RFC 9001 §6.6 for this cipher.
  uint64_t packet_seq = crypto::kPacketSeqLimit;  ///< First number that is never sent.
  uint64_t replay_window_packets = crypto::kReplayWindowPackets;
};

/// What open_ahead() found. kNotTried: open() does all of it.
enum class OpenedAhead : uint8_t { kNotTried, kAuthentic, kForged };

class SecureLink {
 public:
  struct Sealed {
    std::span<uint8_t> datagram;  ///< Into the caller's buffer; begins where the header begins.
    uint64_t packet_seq = 0;
  };
  /// A packet that has its number and its header, and is still to be sealed.
  struct Unsealed {
    std::span<uint8_t> datagram;  ///< As it will be once sealed: header, plaintext, room for the tag.
    size_t header_bytes = 0;
    uint64_t packet_seq = 0;
  };
  struct Opened {
    OpenRefusal refusal = OpenRefusal::kNone;
    wire::PacketType type = wire::PacketType::kPayload;
    uint64_t packet_seq = 0;
    uint32_t epoch = 0;            ///< Of the key it opened under, whole.
    bool is_newest = false;        ///< The highest number accepted so far (L-04, server_tick).
    std::span<uint8_t> plaintext;  ///< Into the datagram; empty when refused.
    explicit operator bool() const { return refusal == OpenRefusal::kNone; }
  };

  /// `master` is m_0 of the handshake; `own_role` the role this side sends as.
  /// `cipher` is what the handshake agreed on, for every epoch.
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
  /// Nothing, when packet numbers are exhausted: closed() says so.
  std::optional<Sealed> seal(wire::PacketType type, std::span<uint8_t> buffer, size_t offset, size_t bytes);

  /// seal() in two halves, so that the second, which is the work, can be done elsewhere and later: on any
  /// thread, one packet of this link after the other, in the order of their numbers, while nothing else
  /// happens to the link. Every packet begun must be finished before keys change or the link ends.
  std::optional<Unsealed> begin_seal(wire::PacketType type, std::span<uint8_t> buffer, size_t offset,
                                     size_t bytes);
  void finish_seal(const Unsealed& packet);

  /// Leaves out the number the next seal() would take, and returns it. Nothing is ever sealed under it.
  uint64_t skip_packet_seq() { return next_packet_seq_++; }

  /// Opens one received datagram in place. Refusals are counted, and change nothing else. `ahead` is what
  /// open_ahead() said of this datagram.
  Opened open(std::span<uint8_t> datagram, OpenedAhead ahead = OpenedAhead::kNotTried);
  /// The same where the header was read already: `header` and `header_bytes` are what
  /// wire::parse_packet_header() found in front of this datagram for this link's protocol.
  Opened open(std::span<uint8_t> datagram, const wire::PacketHeader& header, size_t header_bytes,
              OpenedAhead ahead = OpenedAhead::kNotTried);

  /// The AEAD part of open(), in place and before its turn, for a datagram that would be opened if it were
  /// its turn now; kNotTried for others. On any thread while nothing else happens to the link. Believes
  /// nothing: number, epoch and limits are tested by open() when the turn comes, as if nothing had been done.
  OpenedAhead open_ahead(std::span<uint8_t> datagram) const;

  /// Brings what opening a packet reads towards the processor, or what sealing one does. Hints.
  void prefetch_for_open() const;
  void prefetch_for_seal() const;

  LinkClosed closed() const;
  uint64_t refusal_count(OpenRefusal refusal) const { return refusals_[static_cast<size_t>(refusal)]; }
  /// Highest packet number accepted; 0 before the first.
  uint64_t highest_received() const { return window_.highest(); }

  // Key epochs (§8.4; key_rotation.h). Two are live at most: the newest, and the one before it until it is
  // retired.

  /// The newest epoch's master secret, which rotation chains from.
  const crypto::Key& master() const { return keys_[newest_epoch_ % 2].master; }
  uint32_t newest_epoch() const { return newest_epoch_; }
  uint32_t send_epoch() const { return send_epoch_; }
  /// Accepts packets of epoch newest_epoch() + 1 from now on. The epoch before the newest must be retired;
  /// the newest one's master is erased, having done its work.
  void install_epoch(crypto::Key master);
  /// Seals under the newest epoch from now on, and erases the key of the one before for sending.
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

  // In front what every packet reads.
  uint32_t protocol_id_;
  crypto::Role own_role_;
  crypto::Cipher cipher_;
  uint64_t connection_id_;
  uint64_t next_packet_seq_ = 1;
  uint64_t failed_opens_ = 0;
  LinkLimits limits_;
  uint32_t newest_epoch_ = 0;
  uint32_t send_epoch_ = 0;
  uint32_t unsealed_count_ = 0;  ///< Begun and not finished.
  std::array<Epoch, 2> epochs_;
  crypto::ReplayWindow window_;
  std::array<EpochKeys, 2> keys_;
  std::array<uint64_t, static_cast<size_t>(OpenRefusal::kCount)> refusals_{};
};

}  // namespace lattice::connection
