// Arbitrary RPC bodies. The first byte chooses the argument list.
// Must hold: decoding never breaks, and a body that decodes is the one that its encoder writes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "replication/rpc_codec.h"
#include "unit/replication/replication_types.h"

namespace {

using namespace lattice::replication;
using lattice::serialization::Layout;

/// Argument lists of the kinds an RPC may have.
struct Arguments {
  Arguments() {
    using namespace lattice::replication::test;
    compile(structure<Lamp>("Lamp", {member("lit", LATTICE_WIRE_BOOL, offsetof(Lamp, lit)),
                                     ranged("level", LATTICE_WIRE_UINT8, offsetof(Lamp, level), 0, 11)}),
            &lists[0]);
    compile(structure<Body>("Body", {vector3("position", offsetof(Body, position), 100, 0.01, 0),
                                     member("velocity", LATTICE_WIRE_VECTOR3, offsetof(Body, velocity))}),
            &lists[1]);
    std::vector<lattice_member_desc> soul = {member("health", LATTICE_WIRE_INT32, offsetof(Soul, health)),
                                             member("target", LATTICE_WIRE_NETID, offsetof(Soul, target)),
                                             member("name", LATTICE_WIRE_STRING, offsetof(Soul, name))};
    soul[2].capacity = 12;
    compile(structure<Soul>("Soul", soul), &lists[2]);
  }
  static void compile(const lattice_struct_desc& desc, Layout* out) {
    std::string error;
    LATTICE_CHECK(Layout::compile_structure(desc, false, out, &error));
  }
  std::array<Layout, 3> lists;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Arguments arguments;
  static RpcCodec codec;
  if (size == 0) return 0;
  const Layout* list = data[0] % 4 == 3 ? nullptr : &arguments.lists[data[0] % 4];
  const std::span<const uint8_t> body(data + 1, size - 1);
  RpcHeader header;
  size_t at = 0;
  if (RpcCodec::decode_header(body, &header, &at) != RpcRefusal::kNone) return 0;
  alignas(16) std::array<uint8_t, 64> host{};
  if (codec.decode_arguments(body, at, list, host.data()) != RpcRefusal::kNone) return 0;
  std::array<uint8_t, 256> out{};
  const size_t written = codec.encode(header, list, host.data(), out);
  LATTICE_CHECK(written == body.size());
  LATTICE_CHECK(std::equal(body.begin(), body.end(), out.begin()));
  return 0;
}
