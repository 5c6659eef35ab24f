#include "registry.h"

namespace bench {
namespace {

constexpr Bench kBenches[] = {
    {"demo-load", "Depot: a server process and N bots over encrypted UDP; and a plain floor beside it",
     run_demo_load},
    {"codec", "snapshots of 256 objects for 256 clients, and the delta codec alone, in one thread",
     run_codec},
    {"transport", "the transport alone beside ENet and two floors: game shape, bulk, ping, connects, floods",
     run_transport},
    {"replication",
     "many players and objects: crowds on one processor beside a floor, caps, resting worlds, joins",
     run_replication},
    {"snapshots", "bytes of a snapshot on a recording of 901 cubes, decoded and compared; --data names it",
     run_snapshots},
    {"serialize",
     "one state of 20 members packed and read back, beside protobuf and FlatBuffers; and the schema compiler",
     run_serialize},
    {"hostile", "what an honest player feels while others with a valid token attack the server", run_hostile},
    {"congestion",
     "each congestion controller on narrow, changing links, simulated; --traces adds recorded ones",
     run_congestion},
};

}  // namespace

std::span<const Bench> benches() {
  return kBenches;
}

}  // namespace bench
