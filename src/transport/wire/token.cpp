#include "transport/wire/token.h"

#include "base/byte_cursor.h"

namespace lattice::wire {
namespace {
constexpr uint32_t kTokenMagic = 0x314B544Cu;  // "LTK1"
}

TokenStatus parse_token(std::span<const uint8_t> bytes, TokenFields* out) {
  if (bytes.size() < kMinTokenBytes || bytes.size() > kMaxTokenBytes) return TokenStatus::kBadLength;
  base::ByteReader reader(bytes);
  TokenFields fields;
  if (reader.u32() != kTokenMagic) return TokenStatus::kBadMagic;
  const uint8_t kind = reader.u8();
  const uint8_t role = reader.u8();
  const size_t user_bytes = reader.u16();
  if (kind != 1 && kind != 2) return TokenStatus::kBadKind;
  if (role != 1 && role != 2) return TokenStatus::kBadRole;
  if (user_bytes > kMaxTokenUserBytes || bytes.size() != kMinTokenBytes + user_bytes) {
    return TokenStatus::kBadLength;
  }
  fields.kind = static_cast<TokenKind>(kind);
  fields.role = static_cast<TokenRole>(role);
  reader.copy(fields.issuer_key_id.data(), fields.issuer_key_id.size());
  reader.copy(fields.token_id.data(), fields.token_id.size());
  fields.protocol_id = reader.u32();
  if (reader.u32() != 0) return TokenStatus::kBadReserved;
  fields.schema_id = reader.u64();
  fields.issued_s = reader.u64();
  fields.expires_s = reader.u64();
  reader.copy(fields.aud.data(), fields.aud.size());
  reader.copy(fields.cnf.data(), fields.cnf.size());
  reader.copy(fields.player.data(), fields.player.size());
  reader.copy(fields.session.data(), fields.session.size());
  fields.user_data = reader.bytes(user_bytes);
  if (!reader.ok()) return TokenStatus::kBadLength;
  *out = fields;
  return TokenStatus::kOk;
}

size_t encode_token_fields(const TokenFields& fields, std::span<uint8_t> out) {
  if (fields.user_data.size() > kMaxTokenUserBytes) return 0;
  if (out.size() < kMinTokenBytes + fields.user_data.size()) return 0;
  base::ByteWriter writer(out);
  writer.u32(kTokenMagic);
  writer.u8(static_cast<uint8_t>(fields.kind));
  writer.u8(static_cast<uint8_t>(fields.role));
  writer.u16(static_cast<uint16_t>(fields.user_data.size()));
  writer.bytes(fields.issuer_key_id);
  writer.bytes(fields.token_id);
  writer.u32(fields.protocol_id);
  writer.u32(0);
  writer.u64(fields.schema_id);
  writer.u64(fields.issued_s);
  writer.u64(fields.expires_s);
  writer.bytes(fields.aud);
  writer.bytes(fields.cnf);
  writer.bytes(fields.player);
  writer.bytes(fields.session);
  writer.bytes(fields.user_data);
  return writer.ok() ? writer.size() : 0;
}

}  // namespace lattice::wire
