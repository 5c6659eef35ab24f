#include "transport/wire/packet_header.h"

#include "base/byte_cursor.h"
#include "platform/byte_order.h"

namespace lattice::wire {

HeaderStatus parse_packet_header(std::span<const uint8_t> datagram, uint32_t protocol_id, PacketHeader* out,
                                 size_t* header_bytes) {
  if (datagram.size() < kMinHeaderBytes) return HeaderStatus::kTooShort;
  const uint8_t* bytes = datagram.data();
  PacketHeader header;
  header.protocol_id = platform::load_u32_le(bytes);
  if ((header.protocol_id & kProtocolMagicMask) != kProtocolMagic) return HeaderStatus::kBadMagic;
  const uint8_t type = bytes[4];
  header.connection_id = platform::load_u64_le(bytes + 5);
  header.key_epoch = bytes[13];
  base::ByteReader reader(datagram.subspan(kFixedHeaderBytes));
  header.packet_seq = reader.varint();
  if (type > static_cast<uint8_t>(PacketType::kRelayCtrl)) return HeaderStatus::kUnknownType;
  header.type = static_cast<PacketType>(type);
  if (!reader.ok()) return HeaderStatus::kBadPacketSeq;
  *out = header;
  *header_bytes = kFixedHeaderBytes + reader.position();
  return header.protocol_id == protocol_id ? HeaderStatus::kOk : HeaderStatus::kWrongVersion;
}

size_t packet_header_bytes(uint64_t packet_seq) {
  size_t varint = 1;
  while (varint < 9 && (packet_seq >>= 7) != 0) ++varint;
  return kFixedHeaderBytes + varint;
}

size_t encode_packet_header(const PacketHeader& header, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u32(header.protocol_id);
  writer.u8(static_cast<uint8_t>(header.type));
  writer.u64(header.connection_id);
  writer.u8(header.key_epoch);
  writer.varint(header.packet_seq);
  return writer.ok() ? writer.size() : 0;
}

}  // namespace lattice::wire
