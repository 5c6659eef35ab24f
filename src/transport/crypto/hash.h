// SHA-256, HMAC-SHA256 and HKDF (RFC 6234, RFC 2104, RFC 5869). Inputs are lists of parts, hashed as one
// string. The parts of every caller have fixed lengths or are hashed first, so the joined string is
// unambiguous.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "transport/crypto/secret.h"

namespace lattice::crypto {

using Part = std::span<const uint8_t>;

/// The bytes of a literal, without a terminating zero.
inline Part text(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

/// SHA-256 of the parts joined.
Digest sha256(std::initializer_list<Part> parts);

/// HMAC-SHA256 of the parts joined; any key length.
Digest hmac_sha256(Part key, std::initializer_list<Part> parts);

/// A key of HMAC-SHA256 for many uses: the two compressions of the key are done once, in the constructor. The
/// object is as secret as the key.
class HmacKey {
 public:
  HmacKey() = default;  ///< Holds no key: assign one before hmac().
  explicit HmacKey(Part key);

  /// hmac_sha256() under this key.
  Digest hmac(std::initializer_list<Part> parts) const;
  void erase() { state_.erase(); }

 private:
  static constexpr size_t kStateBytes = 208;  ///< libsodium's state, inner and outer.
  Secret<kStateBytes> state_;
};

/// HKDF-Extract: HMAC-SHA256(salt, the parts joined).
Key hkdf_extract(Part salt, std::initializer_list<Part> input_key_material);

/// HKDF-Expand with info = the parts joined. out.size() is 1 … 255·32. Source: RFC 5869 §2.3.
void hkdf_expand(Part prk, std::initializer_list<Part> info, std::span<uint8_t> out);

/// hkdf_expand to one 32-byte key.
Key hkdf_expand_key(Part prk, std::initializer_list<Part> info);

}  // namespace lattice::crypto
