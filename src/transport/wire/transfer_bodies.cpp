#include "transport/wire/transfer_bodies.h"

#include "base/byte_cursor.h"
#include "transport/wire/control_body.h"

namespace lattice::wire {
namespace {

bool begins_with(base::ByteReader& reader, ControlType type) {
  return reader.u8() == static_cast<uint8_t>(type);
}

bool whole(const base::ByteReader& reader) {
  return reader.ok() && reader.remaining() == 0;
}

}  // namespace

bool parse_transfer_offer(std::span<const uint8_t> body, TransferOffer* out) {
  base::ByteReader reader(body);
  if (!begins_with(reader, ControlType::kTransferOffer)) return false;
  TransferOffer offer;
  offer.id = reader.u16();
  offer.size_bytes = reader.u64();
  if (!reader.ok() || reader.remaining() > kMaxTransferLabelBytes) return false;
  offer.label = reader.bytes(reader.remaining());
  if (offer.size_bytes == 0 || offer.size_bytes > kMaxTransferBytes) return false;
  *out = offer;
  return true;
}

bool parse_transfer_accept(std::span<const uint8_t> body, uint16_t* id) {
  base::ByteReader reader(body);
  if (!begins_with(reader, ControlType::kTransferAccept)) return false;
  const uint16_t value = reader.u16();
  if (!whole(reader)) return false;
  *id = value;
  return true;
}

bool parse_transfer_hold(std::span<const uint8_t> body, TransferHold* out) {
  base::ByteReader reader(body);
  if (!begins_with(reader, ControlType::kTransferHold)) return false;
  TransferHold hold;
  hold.id = reader.u16();
  const uint8_t held = reader.u8();
  if (!whole(reader) || held > 1) return false;
  hold.held = held == 1;
  *out = hold;
  return true;
}

bool parse_transfer_end(std::span<const uint8_t> body, TransferEnd* out) {
  base::ByteReader reader(body);
  if (!begins_with(reader, ControlType::kTransferEnd)) return false;
  TransferEnd end;
  end.id = reader.u16();
  const uint8_t side = reader.u8();
  const uint8_t reason = reader.u8();
  if (!whole(reader) || side > 1 || reason >= kTransferEndReasonCount) return false;
  end.side = static_cast<TransferSide>(side);
  end.reason = static_cast<TransferEndReason>(reason);
  const bool receivers_only = end.reason == TransferEndReason::kDone ||
                              end.reason == TransferEndReason::kRefused ||
                              end.reason == TransferEndReason::kTooLarge;
  if (receivers_only && end.side == TransferSide::kSender) return false;
  *out = end;
  return true;
}

bool parse_transfer_chunk(std::span<const uint8_t> body, TransferChunk* out) {
  base::ByteReader reader(body);
  TransferChunk chunk;
  chunk.id = reader.u16();
  chunk.offset = reader.varint();
  if (!reader.ok() || reader.remaining() == 0) return false;
  chunk.bytes = reader.bytes(reader.remaining());
  *out = chunk;
  return true;
}

size_t encode_transfer_offer(const TransferOffer& offer, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(ControlType::kTransferOffer));
  writer.u16(offer.id);
  writer.u64(offer.size_bytes);
  writer.bytes(offer.label);
  return writer.ok() ? writer.size() : 0;
}

size_t encode_transfer_accept(uint16_t id, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(ControlType::kTransferAccept));
  writer.u16(id);
  return writer.ok() ? writer.size() : 0;
}

size_t encode_transfer_hold(const TransferHold& hold, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(ControlType::kTransferHold));
  writer.u16(hold.id);
  writer.u8(hold.held ? 1 : 0);
  return writer.ok() ? writer.size() : 0;
}

size_t encode_transfer_end(const TransferEnd& end, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(ControlType::kTransferEnd));
  writer.u16(end.id);
  writer.u8(static_cast<uint8_t>(end.side));
  writer.u8(static_cast<uint8_t>(end.reason));
  return writer.ok() ? writer.size() : 0;
}

size_t encode_transfer_chunk_header(uint16_t id, uint64_t offset, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u16(id);
  writer.varint(offset);
  return writer.ok() ? writer.size() : 0;
}

size_t transfer_chunk_header_bytes(uint64_t offset) {
  return sizeof(uint16_t) + base::varint_bytes(offset);
}

}  // namespace lattice::wire
