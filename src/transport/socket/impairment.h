// The impairment of one direction of a network path as plain numbers, and named presets.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::socket {

/// One direction. All zero is a perfect path. Probabilities are in [0, 1]; losses in the two directions of a
/// path are independent, so 5 % loss each way is 9.75 % per round trip.
struct Impairment {
  double delay_ms = 0;   ///< Added to every datagram.
  double jitter_ms = 0;  ///< Adds a uniform value in [-jitter_ms, +jitter_ms]; the sum is never below 0.
  /// False: jitter keeps the order (a late datagram holds back those behind it). True: it may overtake.
  bool jitter_reorders = false;
  double loss = 0;         ///< Independent loss of each datagram.
  double burst_enter = 0;  ///< Gilbert model: chance per datagram to go from good to bad ...
  double burst_leave = 1;  ///< ... and from bad to good. In the bad state everything is lost.
  double duplicate = 0;    ///< Chance that a second copy arrives, with jitter of its own.
  double reorder = 0;      ///< Chance that a datagram is held back by reorder_delay_ms, letting others pass.
  double reorder_delay_ms = 0;
  uint64_t rate_bits_per_s = 0;  ///< Serialisation rate, headers included; 0 is unlimited.
  uint32_t queue_bytes = 65536;  ///< Queue in front of the rate limit; datagrams beyond it are dropped.
  uint32_t mtu_bytes = 0;        ///< Larger payloads are lost; 0 is unlimited.
  bool blackout = false;         ///< Every offered datagram is lost; datagrams in flight still arrive.

  friend bool operator==(const Impairment&, const Impairment&) = default;
};

/// Bytes of the IPv4 and UDP headers. The rate limit and its queue count them for each payload.
inline constexpr uint32_t kWireOverheadBytes = 28;

/// Null when every member is in range; otherwise the name of the first one that is not. Ranges:
/// probabilities [0, 1], times [0, 60000] ms, rate <= 1e12 bit/s; nothing may be NaN.
const char* impairment_error(const Impairment& impairment);

/// A path with its two directions.
struct NamedImpairment {
  const char* name;
  const char* description;
  Impairment up;    ///< Client to server.
  Impairment down;  ///< Server to client.
};

/// lan, fibre, cable, dsl, wifi-busy, 4g, 5g, satellite, hotel, train, transatlantic, worst, and demo
/// (100 ms round trip, +-20 ms, which is +-10 ms each way, and 5 % loss each way).
std::span<const NamedImpairment> impairment_presets();

/// The preset of that name, or null.
const NamedImpairment* find_impairment_preset(const char* name);

}  // namespace lattice::socket
