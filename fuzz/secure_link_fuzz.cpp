// An established link. First byte even: the rest is a datagram as received, before and after a genuine one.
// Odd: the rest is damage (pairs of position, xor) to a genuine one. Nothing but the genuine bytes may open
// or move the window.
#include <cstdlib>
#include <span>
#include <vector>

#include "transport/connection/secure_link.h"
#include "transport/crypto/nonce_ledger.h"

namespace {

using namespace lattice;
using Bytes = std::vector<uint8_t>;

void require(bool condition) {
  if (!condition) std::abort();
}

crypto::Key fixed_key() {
  std::array<uint8_t, 32> bytes;
  bytes.fill(7);
  return crypto::Key(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  crypto::nonce_ledger_clear();
  constexpr uint64_t kId = 0x1122334455667788;
  connection::SecureLink client(wire::kProtocolId, kId, crypto::Role::kClient, fixed_key());
  connection::SecureLink server(wire::kProtocolId, kId, crypto::Role::kServer, fixed_key());
  const std::span<const uint8_t> rest(data + 1, size - 1);

  Bytes buffer(128, 0x5A);
  const auto sealed = client.seal(wire::PacketType::kPayload, buffer, 32, 40);
  require(sealed.has_value());
  const Bytes genuine(sealed->datagram.begin(), sealed->datagram.end());

  Bytes bytes = genuine;
  if (data[0] % 2 == 0) {
    bytes.assign(rest.begin(), rest.end());
  } else {
    for (size_t i = 0; i + 1 < rest.size(); i += 2) bytes[rest[i] % bytes.size()] ^= rest[i + 1];
  }
  Bytes first = bytes;
  const bool opened = static_cast<bool>(server.open(first));
  require(opened == (bytes == genuine));
  require(server.highest_received() == (opened ? 1u : 0u));
  Bytes second = genuine;
  require(static_cast<bool>(server.open(second)) == !opened);
  Bytes third = bytes;
  require(!server.open(third));
  return 0;
}
