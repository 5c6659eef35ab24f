#include "transport/wire/disconnect_body.h"

#include "base/byte_cursor.h"
#include "transport/wire/utf8.h"

namespace lattice::wire {

bool parse_disconnect(std::span<const uint8_t> plaintext, DisconnectBody* out) {
  base::ByteReader reader(plaintext);
  DisconnectBody body;
  body.reason = reader.u16();
  const uint8_t flags = reader.u8();
  const size_t text_bytes = reader.u8();
  body.text = reader.bytes(text_bytes);
  if (!reader.ok() || reader.remaining() != 0) return false;
  if ((flags & ~unsigned{kDisconnectIsAcknowledgement}) != 0) return false;
  if (text_bytes > kMaxReasonTextBytes || !is_valid_reason_text(body.text)) return false;
  body.is_acknowledgement = (flags & kDisconnectIsAcknowledgement) != 0;
  *out = body;
  return true;
}

size_t encode_disconnect(const DisconnectBody& body, std::span<uint8_t> out) {
  if (body.text.size() > kMaxReasonTextBytes) return 0;
  base::ByteWriter writer(out);
  writer.u16(body.reason);
  writer.u8(body.is_acknowledgement ? kDisconnectIsAcknowledgement : uint8_t{0});
  writer.u8(static_cast<uint8_t>(body.text.size()));
  writer.bytes(body.text);
  return writer.ok() ? writer.size() : 0;
}

}  // namespace lattice::wire
