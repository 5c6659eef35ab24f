#include "transport/wire/control_body.h"

#include "base/byte_cursor.h"

namespace lattice::wire {

bool parse_rekey(std::span<const uint8_t> body, RekeyBody* out) {
  if (body.size() != kRekeyBodyBytes) return false;
  base::ByteReader reader(body);
  const uint8_t type = reader.u8();
  if (type != static_cast<uint8_t>(ControlType::kRekeyInit) &&
      type != static_cast<uint8_t>(ControlType::kRekeyResponse)) {
    return false;
  }
  out->type = static_cast<ControlType>(type);
  out->epoch = reader.u32();
  reader.copy(out->public_key.data(), out->public_key.size());
  return reader.ok();
}

size_t encode_rekey(const RekeyBody& body, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(body.type));
  writer.u32(body.epoch);
  writer.bytes(body.public_key);
  return writer.ok() ? writer.size() : 0;
}

}  // namespace lattice::wire
