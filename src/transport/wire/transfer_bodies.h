// Bodies of large transfers (docs/spec/transfer.md): chunks on a bulk channel, and the control messages that
// begin, hold and end them.
//
//   chunk              id u16 · offset varint · 1 byte or more
//   16 TransferOffer   u8 16 · id u16 · size u64 · label, 0 to 64 bytes
//   17 TransferAccept  u8 17 · id u16
//   18 TransferHold    u8 18 · id u16 · held u8, 0 or 1
//   19 TransferEnd     u8 19 · id u16 · side u8, 0 or 1 · reason u8
//
// Must stay true: one body has one meaning; parsers refuse every length and value not listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lattice::wire {

inline constexpr uint64_t kMaxTransferBytes = uint64_t{1} << 40;
inline constexpr size_t kMaxTransferLabelBytes = 64;
/// Fewest bytes of a chunk that does not reach the end of its transfer.
inline constexpr size_t kMinChunkBytes = 256;
/// The id, and the longest offset below kMaxTransferBytes: 40 bits in groups of seven.
inline constexpr size_t kMaxChunkHeaderBytes = 2 + 6;

enum class TransferSide : uint8_t { kSender = 0, kReceiver = 1 };

/// Why a transfer ended, on the wire. Only the receiver sends kDone and kRefused.
enum class TransferEndReason : uint8_t {
  kDone = 0,       ///< Every byte arrived.
  kRefused = 1,    ///< Not accepted.
  kCancelled = 2,  ///< By the application.
  kFailed = 3,     ///< Bytes could not be read, or could not be stored.
  kTooLarge = 4,   ///< Larger than the receiver's limit; its application was not asked.
};
inline constexpr uint8_t kTransferEndReasonCount = 5;

struct TransferOffer {
  uint16_t id = 0;
  uint64_t size_bytes = 0;
  std::span<const uint8_t> label;  ///< Into the body.
};

struct TransferHold {
  uint16_t id = 0;
  bool held = false;
};

struct TransferEnd {
  uint16_t id = 0;
  TransferSide side = TransferSide::kSender;  ///< The side that sends this message.
  TransferEndReason reason = TransferEndReason::kDone;
};

struct TransferChunk {
  uint16_t id = 0;
  uint64_t offset = 0;
  std::span<const uint8_t> bytes;  ///< Into the body; not empty.
};

/// `body` includes the type byte, which must match; false for any body that a sender must not send. The size
/// of an offer is 1 to kMaxTransferBytes.
bool parse_transfer_offer(std::span<const uint8_t> body, TransferOffer* out);
bool parse_transfer_accept(std::span<const uint8_t> body, uint16_t* id);
bool parse_transfer_hold(std::span<const uint8_t> body, TransferHold* out);
bool parse_transfer_end(std::span<const uint8_t> body, TransferEnd* out);
/// Checks only that there is at least one byte. The caller, which knows the transfer, judges offset and
/// length.
bool parse_transfer_chunk(std::span<const uint8_t> body, TransferChunk* out);

/// Bytes written, or 0 when `out` is too short.
size_t encode_transfer_offer(const TransferOffer& offer, std::span<uint8_t> out);
size_t encode_transfer_accept(uint16_t id, std::span<uint8_t> out);
size_t encode_transfer_hold(const TransferHold& hold, std::span<uint8_t> out);
size_t encode_transfer_end(const TransferEnd& end, std::span<uint8_t> out);
/// The header of a chunk; its bytes follow. 3 to kMaxChunkHeaderBytes for offsets below kMaxTransferBytes.
size_t encode_transfer_chunk_header(uint16_t id, uint64_t offset, std::span<uint8_t> out);
/// The number of bytes that encode_transfer_chunk_header() will write.
size_t transfer_chunk_header_bytes(uint64_t offset);

inline constexpr size_t kMaxTransferControlBytes = 1 + 2 + 8 + kMaxTransferLabelBytes;

}  // namespace lattice::wire
