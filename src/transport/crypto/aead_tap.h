// An observer of the plaintexts that the AEAD of this thread seals and opens. Captures get their plaintext
// from it (docs/capture.md). It exists only in builds with LATTICE_CAPTURE. Other builds contain no code that
// hands out plaintext.
#pragma once

#include <cstdint>
#include <span>

namespace lattice::crypto {

class AeadTap {
 public:
  /// `plaintext` is about to be sealed, or has just been opened. Both spans live for the call.
  virtual void on_plaintext(std::span<const uint8_t> aad, std::span<const uint8_t> plaintext) = 0;
  /// The 16-byte tag that belongs to the last on_plaintext().
  virtual void on_tag(std::span<const uint8_t> tag) = 0;

 protected:
  ~AeadTap() = default;
};

#if defined(LATTICE_CAPTURE)
inline constexpr bool kHasAeadTap = true;
/// Borrows `tap` for this thread; null removes the tap. Returns the previous tap.
AeadTap* set_aead_tap(AeadTap* tap);
#else
inline constexpr bool kHasAeadTap = false;
inline AeadTap* set_aead_tap(AeadTap*) {
  return nullptr;
}
#endif

}  // namespace lattice::crypto
