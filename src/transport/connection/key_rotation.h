// Key rotation of one connection, either role (§8.4; K-04…K-09 as handshake.md defines them).
//
//   client                                              server
//   due ───────── RekeyInit{n+1, key} ────────────────▶ opens n and n+1, seals under n
//   seals under n+1 ◀──── RekeyResponse{n+1, key} ──────┘
//   first packet under n+1 ───────────────────────────▶ seals under n+1
//
// Each side erases epoch n an overlap (3 × RTO, 1 to 5 s) after the first packet that opened under n+1. Only
// the client starts: if both sides could, two crossing messages would make two keys of one epoch
// (key_rotation.pml shows the trace). A server that wants new keys asks for them.
//
// Must stay true: a side opens an epoch before its peer can seal under it; two epochs are live at most.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/connection/secure_link.h"
#include "transport/crypto/entropy.h"
#include "transport/crypto/x25519.h"
#include "transport/wire/control_body.h"

namespace lattice::connection {

/// When keys are replaced. The defaults are the protocol's; tests lower them.
struct RotationConfig {
  uint64_t period_ns = uint64_t{15} * 60 * 1'000'000'000;
  uint64_t bytes = uint64_t{1} << 30;    ///< Datagram bytes of one direction under one epoch.
  uint64_t packets = uint64_t{1} << 32;  ///< Packets of one direction under one epoch.
  /// From the start, or the end of the last rotation, to the beginning of the next.
  uint64_t min_interval_ns = 10'000'000'000;
  uint64_t min_overlap_ns = 1'000'000'000;
  uint64_t max_overlap_ns = 5'000'000'000;
};

// Why a message about new keys was refused. Each reason closes the connection with ProtocolError.
enum class RotationRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_ROTATION(id, name, text) id,
#include "base/events.def"
  kCount,
};

class KeyRotation {
 public:
  /// `own_role` equals the role of the SecureLink in all calls; epoch 0 begins at `now_ns`.
  KeyRotation(crypto::Role own_role, const RotationConfig& config, uint64_t now_ns);

  /// A packet of `bytes` was sealed.
  void on_sealed(size_t bytes) { sent_.add(bytes); }
  /// A packet of `bytes` opened under `epoch`. The first one of the newest epoch lets a server seal under it
  /// and starts the overlap, whose length follows from `rto_ns`. True: next_deadline_ns() may be nearer now.
  bool on_opened(SecureLink& link, uint32_t epoch, size_t bytes, uint64_t now_ns, uint64_t rto_ns);

  struct ControlResult {
    RotationRefusal refusal = RotationRefusal::kNone;
    /// This side seals under a new epoch from now on: send a packet, so that the peer follows.
    bool switched = false;
  };
  /// Processes a control message of type RekeyInit, RekeyResponse or RekeyAsk, in the order of its channel. A
  /// refused message changes nothing.
  ControlResult on_control(std::span<const uint8_t> body, SecureLink& link, crypto::EntropySource& entropy,
                           uint64_t now_ns);

  /// Erases the old epoch when its overlap is over, and begins a rotation that is due.
  void update(SecureLink& link, crypto::EntropySource& entropy, uint64_t now_ns);

  /// The control body to be queued for the peer; empty when there is none. It stays until on_queued().
  std::span<const uint8_t> outgoing() const { return std::span(outgoing_).first(outgoing_bytes_); }
  void on_queued() { outgoing_bytes_ = 0; }

  /// The time from which update() has work or outgoing() is not empty, if no packet is sent or received; 0:
  /// now. kNever: not before another packet.
  uint64_t next_deadline_ns(const SecureLink& link) const;
  static constexpr uint64_t kNever = UINT64_MAX;
  /// The members that every packet reads come first and take no more.
  static constexpr size_t kHeadBytes = 104;

  /// A RekeyInit was made and its answer is outstanding.
  bool in_flight() const { return in_flight_; }

 private:
  struct Volume {
    uint64_t bytes = 0;
    uint64_t packets = 0;
    void add(size_t n) {
      bytes += n;
      ++packets;
    }
  };

  uint64_t due_at_ns() const;
  bool waits_to_begin(const SecureLink& link) const;
  void begin(const SecureLink& link, crypto::EntropySource& entropy);
  RotationRefusal answer(const wire::RekeyBody& init, std::span<const uint8_t> init_body, SecureLink& link,
                         crypto::EntropySource& entropy, uint64_t now_ns);
  RotationRefusal finish(const wire::RekeyBody& response, std::span<const uint8_t> response_body,
                         SecureLink& link, uint64_t now_ns);
  void start_epoch(uint64_t now_ns);

  // The members that every packet reads come first.
  Volume sent_, received_;  ///< Since epoch_began_ns_.
  crypto::Role own_role_;
  bool newest_heard_ = true;  ///< A packet of the newest epoch opened; true for epoch 0.
  bool asked_ = false;        ///< Client: the server asked for a rotation. Server: it has asked.
  bool in_flight_ = false;    ///< Client only.
  uint32_t outgoing_bytes_ = 0;
  RotationConfig config_;
  uint64_t epoch_began_ns_;
  uint64_t overlap_ends_ns_ = 0;
  crypto::KeyPair own_;                                     ///< While in flight.
  std::array<uint8_t, wire::kRekeyBodyBytes> init_body_{};  ///< While in flight.
  std::array<uint8_t, wire::kRekeyBodyBytes> outgoing_{};
};

}  // namespace lattice::connection
