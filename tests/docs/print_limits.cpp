// Prints every number of docs/guide/limits.md as the library has it: "NAME VALUE" for a constant, "NAME MIN
// MAX DEFAULT" for a member of lattice_world_config. check_limits.py compares. Ranges are read from the
// refusal that lattice_world_create() answers a value that is too large or too small with.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "fragment/reassembler.h"
#include "lattice/lattice.h"
#include "lattice/transfer.h"
#include "prediction/interpolation.h"
#include "prediction/interpolation_clock.h"
#include "reliability/channel/receive_memory.h"
#include "reliability/channel/send_memory.h"
#include "reliability/limits.h"
#include "replication/despawn_gate.h"
#include "replication/rpc_gate.h"
#include "replication/rpc_inbox.h"
#include "replication/snapshot_builder.h"
#include "replication/snapshot_format.h"
#include "simulation/fixed_tick.h"
#include "simulation/input_buffer.h"
#include "simulation/input_history.h"
#include "transfer/transfer_limits.h"
#include "transport/wire/constants.h"

namespace {

#define PRINT_CONSTANT(name) std::printf("%s %" PRIu64 "\n", #name, static_cast<uint64_t>(name))

void print_constants() {
  using namespace lattice;
  PRINT_CONSTANT(LATTICE_MAX_TYPES);
  PRINT_CONSTANT(LATTICE_MAX_BEHAVIOURS);
  PRINT_CONSTANT(LATTICE_MAX_MEMBERS);
  PRINT_CONSTANT(LATTICE_MAX_NESTING);
  PRINT_CONSTANT(LATTICE_MAX_LEAVES);
  PRINT_CONSTANT(LATTICE_MAX_ARRAY_ELEMENTS);
  PRINT_CONSTANT(LATTICE_MAX_LIST_ELEMENTS);
  PRINT_CONSTANT(LATTICE_MAX_HOST_BYTES);
  PRINT_CONSTANT(LATTICE_MAX_RPCS);
  PRINT_CONSTANT(LATTICE_MAX_NAME_BYTES);
  PRINT_CONSTANT(LATTICE_MAX_STRING_BYTES);
  PRINT_CONSTANT(LATTICE_DEFAULT_STRING_BYTES);
  PRINT_CONSTANT(LATTICE_MAX_CUSTOM_BYTES);
  PRINT_CONSTANT(LATTICE_MESSAGE_MAX_BYTES);
  PRINT_CONSTANT(LATTICE_TOKEN_MAX_BYTES);
  PRINT_CONSTANT(LATTICE_TOKEN_USER_DATA_MAX_BYTES);
  PRINT_CONSTANT(LATTICE_TRANSFER_LABEL_MAX_BYTES);
  PRINT_CONSTANT(LATTICE_BACKENDS_MAX);
  PRINT_CONSTANT(LATTICE_BACKEND_BUFFER_BYTES);
  PRINT_CONSTANT(reliability::kMaxSequencedBody);
  PRINT_CONSTANT(reliability::kMaxSnapshotBody);
  PRINT_CONSTANT(reliability::kReliableWindow);
  PRINT_CONSTANT(reliability::kMaxReliableWindow);
  PRINT_CONSTANT(reliability::kMaxQueuedMessages);
  PRINT_CONSTANT(reliability::kMaxQueuedBytes);
  PRINT_CONSTANT(reliability::kLargestDatagramBytes);
  PRINT_CONSTANT(reliability::ReceiveMemory::kBlockBytes);
  PRINT_CONSTANT(reliability::ReceiveMemory::kShareBlocks);
  PRINT_CONSTANT(reliability::kReceiveGrowthBytes);
  PRINT_CONSTANT(reliability::kSendGrowthBytes);
  PRINT_CONSTANT(reliability::kSendShareBytes);
  PRINT_CONSTANT(fragment::kMaxUnreliableGroups);
  PRINT_CONSTANT(fragment::kMaxUnreliableBlocks);
  PRINT_CONSTANT(wire::kFloorDatagramBytes);
  PRINT_CONSTANT(wire::kMaxReasonTextBytes);
  PRINT_CONSTANT(transfer::kMaxTransfers);
  PRINT_CONSTANT(replication::RpcInbox::kObjectWaitNs);
  PRINT_CONSTANT(replication::RpcInbox::kTickWaitNs);
  PRINT_CONSTANT(replication::DespawnGate::kMaxWaitNs);
  PRINT_CONSTANT(replication::RpcInbox::kMaxHeldPerObject);
  PRINT_CONSTANT(replication::RpcInbox::kMaxHeld);
  PRINT_CONSTANT(replication::RpcGate::Config{}.rate_per_s);
  PRINT_CONSTANT(replication::RpcGate::Config{}.burst);
  PRINT_CONSTANT(replication::SnapshotBuilder::kMaxParts);
  PRINT_CONSTANT(replication::SnapshotBuilder::kMaxPieceParts);
  PRINT_CONSTANT(replication::SnapshotBuilder::kMostNewObjects);
  PRINT_CONSTANT(replication::kMaxLongStates);
  PRINT_CONSTANT(simulation::kJitterBufferTicks);
  PRINT_CONSTANT(simulation::kInputRepeatMaxNs);
  PRINT_CONSTANT(simulation::kMaxInputsPerMessage);
  PRINT_CONSTANT(simulation::kMaxFrameNs);
  PRINT_CONSTANT(simulation::kLeastTicksAtOnce);
  PRINT_CONSTANT(simulation::kMostTicksAtOnce);
  PRINT_CONSTANT(prediction::kMostDelayIntervals);
}

lattice_role_context client_role() {
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  return role;
}

/// The largest encoded object of a type with `flags`, from the refusal of a type that is larger.
void print_largest_object(const char* name, uint32_t flags, uint32_t capacity) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.netsim = lattice_netsim_create(1);
  config.bind_address = "10.0.0.1:1";
  const lattice_role_context role = client_role();
  lattice_world* world = lattice_world_create(&config, &role);
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "text";
  member.type = LATTICE_WIRE_STRING;
  member.capacity = capacity;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Text";
  structure.host_bytes = LATTICE_MAX_STRING_BYTES;
  structure.host_align = 1;
  structure.members = &member;
  structure.member_count = 1;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = "Text";
  type.flags = flags;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  lattice_register_type(world, &type);
  const char* at = std::strstr(lattice_last_error(), "at most ");
  unsigned bytes = 0;
  if (at != nullptr && std::sscanf(at, "at most %u", &bytes) == 1) {
    std::printf("%s %u\n", name, bytes);
  }
  lattice_world_destroy(world);
  lattice_netsim_destroy(config.netsim);
}

/// The range of a member, which is refused with every bit set.
template <class Value>
void print_range(const char* name, Value lattice_world_config::*member) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  const auto usual = static_cast<uint64_t>(config.*member);
  config.*member = static_cast<Value>(~Value{0});
  const lattice_role_context role = client_role();
  lattice_world* world = lattice_world_create(&config, &role);
  const std::string start = std::string("lattice_world_config.") + name + " is ";
  const char* range = std::strstr(lattice_last_error(), "Give a value in ");
  uint64_t min = 0, max = 0;
  if (world == nullptr && std::strstr(lattice_last_error(), start.c_str()) != nullptr && range != nullptr &&
      std::sscanf(range, "Give a value in %" SCNu64 "..%" SCNu64, &min, &max) == 2) {
    std::printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, min, max, usual);
  }
  lattice_world_destroy(world);
}

/// The least cap that a role may have, from the refusal of a smaller one.
void print_least_cap(const char* name, lattice_role kind) {
  uint8_t seed[LATTICE_KEY_BYTES];
  uint8_t key[LATTICE_KEY_BYTES];
  lattice_issuer_generate(seed, key);
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.issuer_public_keys = key;
  config.issuer_public_key_count = kind == LATTICE_ROLE_CLIENT ? 0 : 1;
  config.max_send_bytes_per_s = 1;
  lattice_role_context role;
  lattice_role_context_init(&role, kind);
  lattice_world* world = lattice_world_create(&config, &role);
  const char* at = std::strstr(lattice_last_error(), "no ceiling, or ");
  unsigned bytes = 0;
  if (world == nullptr && at != nullptr && std::sscanf(at, "no ceiling, or %u", &bytes) == 1) {
    std::printf("%s %u\n", name, bytes);
  }
  lattice_world_destroy(world);
}

void print_names() {
  lattice_world_config config;
  lattice_world_config_init(&config);
  const lattice_role_context role = client_role();
  lattice_world* world = lattice_world_create(&config, &role);
  uint64_t count = 0;
  const char* name = nullptr;
  for (uint32_t i = 0; (name = lattice_world_refusal(world, i, &count)) != nullptr; ++i) {
    std::printf("counter %s\n", name);
  }
  lattice_world_destroy(world);
  for (int reason = 0; reason <= LATTICE_DISCONNECT_APPLICATION; ++reason) {
    name = lattice_disconnect_reason_name(reason);
    if (std::strcmp(name, "unknown") != 0) std::printf("reason %s\n", name);
  }
  for (uint32_t i = 0; (name = lattice_impairment_preset_name(i)) != nullptr; ++i)
    std::printf("preset %s\n", name);
  for (int result = 0; result < 100; ++result) {
    name = lattice_result_name(static_cast<lattice_result>(result));
    if (std::strcmp(name, "unknown") != 0) std::printf("result %s\n", name);
  }
}

}  // namespace

#define PRINT_RANGE(member) print_range(#member, &lattice_world_config::member)

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "names") == 0) {
    print_names();
    return 0;
  }
  print_constants();
  print_largest_object("largest_object", 0, LATTICE_MAX_STRING_BYTES - 1);
  print_largest_object("largest_predicted_object", LATTICE_TYPE_PREDICTED, 2000);
  PRINT_RANGE(tick_rate_hz);
  PRINT_RANGE(snapshot_rate_hz);
  PRINT_RANGE(max_objects);
  PRINT_RANGE(max_connections);
  PRINT_RANGE(socket_buffer_bytes);
  PRINT_RANGE(connect_budget_ms);
  PRINT_RANGE(connection_timeout_ms);
  PRINT_RANGE(snapshot_budget_bytes);
  PRINT_RANGE(issuer_public_key_count);
  PRINT_RANGE(connects_per_s_per_prefix);
  PRINT_RANGE(max_half_open_per_prefix);
  PRINT_RANGE(max_transfer_bytes);
  PRINT_RANGE(interpolation_delay_ms);
  PRINT_RANGE(extrapolation_max_ms);
  PRINT_RANGE(smoothing_tau_ms);
  PRINT_RANGE(worker_count);
  PRINT_RANGE(rto_min_ms);
  PRINT_RANGE(rto_max_ms);
  PRINT_RANGE(keepalive_interval_ms);
  PRINT_RANGE(connect_retry_ms);
  PRINT_RANGE(replay_window_packets);
  PRINT_RANGE(rekey_interval_s);
  PRINT_RANGE(rekey_bytes);
  PRINT_RANGE(initial_datagram_bytes);
  PRINT_RANGE(max_datagram_bytes);
  PRINT_RANGE(prediction_window_ticks);
  PRINT_RANGE(history_ticks);
  PRINT_RANGE(input_redundancy);
  PRINT_RANGE(resimulation_budget_ticks);
  PRINT_RANGE(interest_stay_ms);
  PRINT_RANGE(interest_far_rate_hz);
  PRINT_RANGE(predicted_set_bytes);
  print_least_cap("least_cap_of_authority", LATTICE_ROLE_DEDICATED);
  print_least_cap("least_cap_of_client", LATTICE_ROLE_CLIENT);
  return 0;
}
