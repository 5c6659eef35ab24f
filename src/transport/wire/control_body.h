// Control messages: bodies on channel 15, distinguished by their first byte, and the layout of the
// rotation bodies (handshake.md, "Rotation").
//
//   1 RekeyInit      u8 1 · epoch u32 · public key 32
//   2 RekeyResponse  u8 2 · epoch u32 · public key 32
//  13 RekeyAsk       u8 13
//  14 ResetToken: stateless_reset.h
//  15 Credit         u8 15 · channel u8 · messages u16
//  16 to 19: large transfers, transfer_bodies.h
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/constants.h"

namespace lattice::wire {

enum class ControlType : uint8_t {
  kRekeyInit = 1,
  kRekeyResponse = 2,
  kSchemaInfo = 3,
  kInputSetup = 4,
  kTablePart = 5,
  kTableAck = 6,
  kRequestAuthority = 7,
  kNotifyAuthorityChange = 8,
  kGrantAuthority = 9,
  kDenyAuthority = 10,
  kStateCell = 11,
  kStateConfirm = 12,
  kRekeyAsk = 13,
  kResetToken = 14,
  kCredit = 15,
  kTransferOffer = 16,
  kTransferAccept = 17,
  kTransferHold = 18,
  kTransferEnd = 19,
  kFirstApplication = 128,
};

/// True for the registered types and for application extensions (128 and up).
inline bool is_known_control_type(uint8_t type) {
  return (type >= 1 && type <= 19) || type >= 128;
}

/// True for the types of large transfers.
inline bool is_transfer_control_type(uint8_t type) {
  return type >= 16 && type <= 19;
}

/// True for the types key rotation owns; they never reach the application.
inline bool is_rotation_control_type(uint8_t type) {
  return type == 1 || type == 2 || type == 13;
}

/// True for the types that the transport itself sends and receives.
inline bool is_transport_control_type(uint8_t type) {
  return is_rotation_control_type(type) || type == 14 || type == 15;
}

inline constexpr size_t kRekeyBodyBytes = 1 + 4 + kPublicKeyBytes;

struct RekeyBody {
  ControlType type = ControlType::kRekeyInit;  ///< kRekeyInit or kRekeyResponse.
  uint32_t epoch = 0;
  PublicKey public_key{};
};

/// `body` includes the type byte; refuses any other length or type.
bool parse_rekey(std::span<const uint8_t> body, RekeyBody* out);
size_t encode_rekey(const RekeyBody& body, std::span<uint8_t> out);

/// How far the sender of messages on `channel` may go ahead.
struct Credit {
  uint8_t channel = 0;
  uint16_t messages = 0;
};
inline constexpr size_t kCreditBodyBytes = 1 + 1 + 2;

/// `body` includes the type byte; refuses any other length and a channel that does not exist.
bool parse_credit(std::span<const uint8_t> body, Credit* out);
std::array<uint8_t, kCreditBodyBytes> encode_credit(const Credit& credit);

}  // namespace lattice::wire
