// A peer with valid keys sends the packets of the input behind the AEAD, straight into an Endpoint and the
// layer that puts fragments together. Input: any number of  type u8 (low 6 bits mod 3: Payload, Keepalive,
// Disconnect; 0x40: from another address; 0x80: time passes afterwards) · length u8 · plaintext.
#include <algorithm>
#include <cstdlib>

#include "fragment/fragmenting_endpoint.h"
#include "unit/reliability/raw_client.h"

namespace {

using namespace lattice;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test::RigOptions options;
  options.client_count = 0;
  options.server.max_claims = 16;
  options.server.max_connections = 2;
  options.step_ns = 10 * test::kMs;
  options.server.rotation.min_interval_ns = 0;
  test::RigOf<fragment::FragmentingEndpoint> rig(std::move(options));
  test::RawClientOf<fragment::FragmentingEndpoint> peer(rig);
  require(peer.connect());
  constexpr wire::PacketType kTypes[] = {wire::PacketType::kPayload, wire::PacketType::kKeepalive,
                                         wire::PacketType::kDisconnect};
  size_t at = 0;
  uint32_t receipt = 0;
  for (int packets = 0; at + 2 <= size && packets < 64; ++packets) {
    const uint8_t type = data[at];
    const size_t bytes = std::min<size_t>(data[at + 1], size - at - 2);
    const wire::PacketType packet_type = kTypes[(type & 0x3F) % 3];
    if (type & 0x40) {
      peer.send_from(base::ipv4_path(203, 0, 113, 5, 5), packet_type, {data + at + 2, bytes});
    } else {
      peer.send(packet_type, {data + at + 2, bytes});
    }
    at += 2 + bytes;
    if ((type & 0x80) == 0) continue;
    rig.step();
    if (rig.server.handler.connected.empty()) continue;
    // Something for the peer to acknowledge, truthfully or not.
    rig.server.endpoint->send(rig.server.handler.connected[0], test::Channel::kReliableOrdered, {},
                              test::number_body(receipt), receipt + 1);
    ++receipt;
  }
  rig.run(1400 * test::kMs);
  require(rig.server.handler.connected.size() <= 1);
  require(rig.server.handler.ended.size() <= rig.server.handler.connected.size());
  for (const auto& [number, told] : rig.server.handler.receipts) require(told.size() == 1);
  if (!rig.server.handler.ended.empty()) {
    require(rig.server.endpoint->endpoint().pool_stats().buffers_live == 0);
    require(rig.server.endpoint->endpoint().receive_memory().blocks_live() == 0);
  }
  return 0;
}
