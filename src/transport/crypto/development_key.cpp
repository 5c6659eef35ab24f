#include "transport/crypto/development_key.h"

#include <sodium.h>

#include <string_view>
#include <utility>

namespace lattice::crypto {
namespace {

constexpr std::string_view kTitle = "lattice development key 1\n";
constexpr std::string_view kServer = "server_public_key ";
constexpr std::string_view kIssuer = "issuer_seed ";
constexpr size_t kHexBytes = 64;
static_assert(kTitle.size() + kServer.size() + kHexBytes + 1 + kIssuer.size() + kHexBytes + 1 ==
              kDevelopmentKeyTextBytes);

class Writer {
 public:
  explicit Writer(uint8_t* at) : at_(at) {}
  void text(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void key(std::span<const uint8_t, 32> key) {
    char hex[kHexBytes + 1];
    sodium_bin2hex(hex, sizeof hex, key.data(), key.size());
    text({hex, kHexBytes});
    wipe(hex, sizeof hex);
    text("\n");
  }

 private:
  uint8_t* at_;
};

/// Fails sticky: after the first unexpected character, nothing more is read.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> text)
      : rest_(reinterpret_cast<const char*>(text.data()), text.size()) {}
  void text(std::string_view expected) {
    if (!rest_.starts_with(expected)) return fail();
    rest_.remove_prefix(expected.size());
  }
  void key(std::span<uint8_t, 32> out) {
    size_t bytes = 0;
    if (rest_.size() < kHexBytes ||
        sodium_hex2bin(out.data(), out.size(), rest_.data(), kHexBytes, nullptr, &bytes, nullptr) != 0 ||
        bytes != out.size()) {
      return fail();
    }
    rest_.remove_prefix(kHexBytes);
    text("\n");
  }
  bool finished() const { return ok_ && rest_.empty(); }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

void write_development_key(const DevelopmentKey& key, std::span<uint8_t, kDevelopmentKeyTextBytes> out) {
  Writer writer(out.data());
  writer.text(kTitle);
  writer.text(kServer);
  writer.key(key.server_public_key);
  writer.text(kIssuer);
  writer.key(key.issuer_seed.bytes());
}

bool read_development_key(std::span<const uint8_t> text, DevelopmentKey* out) {
  DevelopmentKey key;
  Reader reader(text);
  reader.text(kTitle);
  reader.text(kServer);
  reader.key(key.server_public_key);
  reader.text(kIssuer);
  reader.key(key.issuer_seed.mutable_bytes());
  if (!reader.finished()) return false;
  *out = std::move(key);
  return true;
}

}  // namespace lattice::crypto
