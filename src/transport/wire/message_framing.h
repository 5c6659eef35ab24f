// Payload framing: the channel messages of one plaintext, back to back (§3.2…§3.5, Y-03, Y-04, F-02).
//
//   +---------+-------+------------------------+-------------------+-----------+----+--------+
//   | channel | flags | per-channel header     | fragment header   | length    | 00 | body   |
//   | 4 bits  | 4 bits| by mode, below         | if flag 1         | 14 bits   | 2b | length |
//   +---------+-------+------------------------+-------------------+-----------+----+--------+
//   unreliable: nothing      unreliable-sequenced: sequence u16
//   reliable:   message_id u16 · [ack_seq u16 · ack_bitfield u32, absent when flag 8 (ack_elided)]
//   fragment:   group u16 · index u8 · count u8 (0 means 256, F-01)
//   bulk: no header, no flags
//   channel 14: no header, no flags; the body is the ack block (6) or ack block · ack_delay u16 (8)
//   0xEF instead of a message: padding, zero bytes to the end (W-30)
//
// Must stay true (P-10): check_framing() checks a whole plaintext before any of its messages takes effect.
// Every payload has an ack block; if it has several, the first counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/byte_cursor.h"
#include "base/sequence.h"
#include "platform/byte_order.h"
#include "transport/wire/ack_block.h"
#include "transport/wire/channel_table.h"

namespace lattice::wire {

enum MessageFlag : uint8_t {
  kFlagFragment = 1,
  kFlagRpc = 2,
  kFlagSnapshot = 4,
  kFlagAckElided = 8,
};

inline constexpr uint8_t kPaddingByte = 0xEF;
inline constexpr size_t kMaxMessageBodyBytes = 16'383;
inline constexpr size_t kAckMessageBytes = 9;
inline constexpr size_t kAckMessageWithDelayBytes = 11;
inline constexpr size_t kFragmentHeaderBytes = 4;
inline constexpr size_t kShortReliableBytes = 5;  ///< In front of the body, if reliable with kFlagAckElided.

struct FragmentHeader {
  uint16_t group = 0;
  uint8_t index = 0;
  uint16_t count = 1;  ///< 1 to 256.

  friend bool operator==(const FragmentHeader&, const FragmentHeader&) = default;
};

struct MessageHead {
  uint8_t channel = 0;
  ChannelMode mode = ChannelMode::kUnreliable;
  uint8_t flags = 0;
  base::Sequence16 id;      ///< message_id or sequence, by mode; zero for unreliable.
  FragmentHeader fragment;  ///< Meaningful with kFlagFragment.

  bool is_fragment() const { return (flags & kFlagFragment) != 0; }
};

struct Message : MessageHead {
  bool has_ack = false;
  AckBlock ack;
  bool has_ack_delay = false;
  uint64_t ack_delay_ns = 0;
  std::span<const uint8_t> body;  ///< Into the plaintext. Empty for the ack message.
};

// One list for the enumerators and their counter names.
enum class FramingError : uint8_t {
  kNone,
#define LATTICE_EVENT_FRAMING(id, name, text) id,
#include "base/events.def"
};

/// Walks the messages of one plaintext. Fails sticky: after an error next() is false for ever.
class MessageReader {
 public:
  MessageReader(std::span<const uint8_t> plaintext, const ChannelTable& channels)
      : rest_(plaintext), channels_(channels) {}

  /// Reads the next message; false at the end of the plaintext or at an error, with `out` undefined.
  bool next(Message* out);
  /// The bytes that are still to be read.
  std::span<const uint8_t> rest() const { return rest_; }
  /// kNone while everything read so far was well-formed.
  FramingError error() const { return error_; }

 private:
  bool refuse(FramingError error);
  bool read_short_reliable(Message* message);
  bool read_any(Message* message);
  /// The length, which ends the `overhead_bytes`, and the body.
  bool take_body(size_t overhead_bytes, Message* message);
  bool skip_padding();
  bool read_ack_body(Message* message);

  std::span<const uint8_t> rest_;
  const ChannelTable& channels_;
  FramingError error_ = FramingError::kNone;
};

/// The facts that check_framing() found in a well-formed plaintext.
struct FramingSummary {
  AckBlock ack;  ///< The first block (R-01).
  bool has_ack_delay = false;
  uint64_t ack_delay_ns = 0;
  uint32_t message_count = 0;  ///< Without ack messages.
  uint32_t ack_message_count = 0;
  uint32_t reliable_count = 0;
  size_t kept_count = 0;          ///< Messages at the front that were kept, ack messages included.
  std::span<const uint8_t> rest;  ///< The plaintext behind the kept messages.
};

/// Validates a whole plaintext (P-10); `out` is filled only on kNone. Stores the first messages in `kept`, so
/// that the caller need not read them again. The caller reads the other messages from `rest`.
FramingError check_framing(std::span<const uint8_t> plaintext, const ChannelTable& channels,
                           FramingSummary* out, std::span<Message> kept = {});

/// Bytes in front of the body of a message: 1 + per-channel header + fragment header + 2.
inline size_t message_overhead_bytes(ChannelMode mode, bool is_fragment, bool ack_elided) {
  size_t bytes = 1 + 2;
  if (mode == ChannelMode::kUnreliableSequenced) bytes += 2;
  if (is_reliable(mode)) bytes += ack_elided ? 2 : 2 + kAckBlockBytes;
  if (is_fragment) bytes += kFragmentHeaderBytes;
  return bytes;
}

/// bits(length, 14) followed by two zero bits is the big-endian u16 of length << 2 (Y-01, Y-04). Returns what
/// follows it.
inline uint8_t* put_length(uint8_t* at, size_t body_bytes) {
  const auto packed = static_cast<uint16_t>(body_bytes << 2);
  at[0] = static_cast<uint8_t>(packed >> 8);
  at[1] = static_cast<uint8_t>(packed);
  return at + 2;
}

/// Appends one message. For reliable modes, `ack` gives the full header, and null gives ack_elided; `head`
/// never sets that flag. False, and nothing written, when the message does not fit or its body is longer than
/// kMaxMessageBodyBytes.
bool write_message(base::ByteWriter& writer, const MessageHead& head, const AckBlock* ack,
                   std::span<const uint8_t> body);
/// The same for the message that busy packets are full of: reliable, whole, without an ack block.
inline bool write_short_reliable(base::ByteWriter& writer, uint8_t channel, uint8_t flags,
                                 base::Sequence16 id, std::span<const uint8_t> body) {
  const size_t bytes = kShortReliableBytes + body.size();
  if (body.size() > kMaxMessageBodyBytes || !writer.ok() || writer.remaining() < bytes) return false;
  uint8_t* at = writer.take(bytes);
  at[0] = static_cast<uint8_t>(channel << 4 | flags | kFlagAckElided);
  platform::store_u16_le(at + 1, id.value);
  at = put_length(at + 3, body.size());
  if (!body.empty()) std::memcpy(at, body.data(), body.size());
  return true;
}
/// Appends a whole message; `has_ack` decides whether its ack block is written.
inline bool write_message(base::ByteWriter& writer, const Message& message) {
  return write_message(writer, message, message.has_ack ? &message.ack : nullptr, message.body);
}

/// Appends padding of `bytes` bytes, up to what `writer` has room for. Nothing may follow.
void write_padding(base::ByteWriter& writer, size_t bytes);

/// Appends the ack message of channel 14. If `with_delay`, it contains `delay_ns`, rounded down to units of
/// 32 µs and saturating.
bool write_ack_message(base::ByteWriter& writer, const AckBlock& ack, bool with_delay, uint64_t delay_ns);

}  // namespace lattice::wire
