#include "transport/wire/stateless_reset.h"

#include <algorithm>

#include "transport/wire/control_body.h"

namespace lattice::wire {

size_t encode_reset(const PacketHeader& question, std::span<const uint8_t, kResetRandomBytes> random,
                    const ResetToken& token, std::span<uint8_t> out) {
  if (out.size() < kMaxResetBytes) return 0;
  PacketHeader header = question;
  header.type = PacketType::kKeepalive;
  const size_t header_bytes = encode_packet_header(header, out);
  auto end = std::copy(random.begin(), random.end(), out.begin() + static_cast<ptrdiff_t>(header_bytes));
  std::copy(token.begin(), token.end(), end);
  return header_bytes + kResetBodyBytes;
}

std::span<const uint8_t> reset_token_in(std::span<const uint8_t> datagram, size_t header_bytes) {
  if (datagram.size() != header_bytes + kResetBodyBytes) return {};
  return datagram.last(kResetTokenBytes);
}

bool parse_reset_token(std::span<const uint8_t> body, ResetToken* out) {
  if (body.size() != kResetTokenMessageBytes || body[0] != static_cast<uint8_t>(ControlType::kResetToken)) {
    return false;
  }
  std::copy(body.begin() + 1, body.end(), out->begin());
  return true;
}

std::array<uint8_t, kResetTokenMessageBytes> encode_reset_token(const ResetToken& token) {
  std::array<uint8_t, kResetTokenMessageBytes> body{};
  body[0] = static_cast<uint8_t>(ControlType::kResetToken);
  std::copy(token.begin(), token.end(), body.begin() + 1);
  return body;
}

}  // namespace lattice::wire
