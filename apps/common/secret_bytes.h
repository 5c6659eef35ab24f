// Secret bytes of the programs: one owner, no copies, wiped when they go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <string.h>  // explicit_bzero

namespace app {

/// Wipes the characters of a text that spelled a secret, and empties it.
inline void wipe(std::string& text) {
  text.resize(text.capacity());
  explicit_bzero(text.data(), text.size());
  text.clear();
}

template <size_t N>
class SecretBytes {
 public:
  SecretBytes() = default;
  ~SecretBytes() { explicit_bzero(bytes_.data(), N); }
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;

  uint8_t* data() { return bytes_.data(); }
  const uint8_t* data() const { return bytes_.data(); }
  std::span<uint8_t, N> bytes() { return bytes_; }
  std::span<const uint8_t, N> bytes() const { return bytes_; }

 private:
  std::array<uint8_t, N> bytes_{};
};

}  // namespace app
