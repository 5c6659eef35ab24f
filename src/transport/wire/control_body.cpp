#include "transport/wire/control_body.h"

#include "base/assert.h"
#include "base/byte_cursor.h"
#include "transport/wire/channel_table.h"

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

bool parse_credit(std::span<const uint8_t> body, Credit* out) {
  if (body.size() != kCreditBodyBytes) return false;
  base::ByteReader reader(body.subspan(1));
  out->channel = reader.u8();
  out->messages = reader.u16();
  return reader.ok() && out->channel < kChannelCount;
}

std::array<uint8_t, kCreditBodyBytes> encode_credit(const Credit& credit) {
  std::array<uint8_t, kCreditBodyBytes> out;
  base::ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(ControlType::kCredit));
  writer.u8(credit.channel);
  writer.u16(credit.messages);
  LATTICE_ASSERT(writer.ok());
  return out;
}

}  // namespace lattice::wire
