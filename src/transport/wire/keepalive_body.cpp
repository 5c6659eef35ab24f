#include "transport/wire/keepalive_body.h"

#include <algorithm>

#include "base/byte_cursor.h"

namespace lattice::wire {

bool parse_keepalive(std::span<const uint8_t> plaintext, KeepaliveBody* out) {
  base::ByteReader reader(plaintext);
  KeepaliveBody body;
  body.flags = reader.u8();
  if ((body.flags & ~unsigned{kKeepaliveKnownFlags}) != 0) return false;
  body.ack.ack_seq = reader.u16();
  body.ack.ack_bitfield = reader.u32();
  body.tick = reader.u32();
  if (body.flags & kKeepaliveProbe) body.probe_us = reader.u64();
  if (body.flags & kKeepaliveEcho) {
    body.echo_us = reader.u64();
    body.echo_delay_us = reader.u32();
  }
  if (body.flags & kKeepalivePathChallenge) reader.copy(body.challenge.data(), body.challenge.size());
  if (body.flags & kKeepalivePathResponse) reader.copy(body.response.data(), body.response.size());
  const auto padding = reader.bytes(reader.remaining());
  if (!reader.ok()) return false;
  if (!std::all_of(padding.begin(), padding.end(), [](uint8_t b) { return b == 0; })) return false;
  *out = body;
  return true;
}

size_t encode_keepalive(const KeepaliveBody& body, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(body.flags);
  writer.u16(body.ack.ack_seq);
  writer.u32(body.ack.ack_bitfield);
  writer.u32(body.tick);
  if (body.flags & kKeepaliveProbe) writer.u64(body.probe_us);
  if (body.flags & kKeepaliveEcho) {
    writer.u64(body.echo_us);
    writer.u32(body.echo_delay_us);
  }
  if (body.flags & kKeepalivePathChallenge) writer.bytes(body.challenge);
  if (body.flags & kKeepalivePathResponse) writer.bytes(body.response);
  return writer.ok() ? writer.size() : 0;
}

}  // namespace lattice::wire
