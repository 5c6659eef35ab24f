// lattice_netsim: a seeded network in virtual time, and lattice_set_impairment for real sockets.
#include <memory>

#include "abi/development_tokens.h"
#include "abi/impairment.h"
#include "abi/last_error.h"
#include "abi/world_instance.h"
#include "transport/socket/simulated_network.h"

namespace lattice::abi {

struct NetsimInstance {
  explicit NetsimInstance(const socket::SimulatedNetworkConfig& config) : network(config) {}
  socket::SimulatedNetwork network;
  std::vector<SimulatedDevelopmentKey> development_keys;
  uint64_t now_ns = 0;
};

socket::SimulatedNetwork* network_of(const lattice_netsim* handle) {
  NetsimInstance* instance = handle == nullptr ? nullptr : find_netsim(handle);
  return instance == nullptr ? nullptr : &instance->network;
}

std::vector<SimulatedDevelopmentKey>* development_keys_of(const lattice_netsim* handle) {
  NetsimInstance* instance = handle == nullptr ? nullptr : find_netsim(handle);
  return instance == nullptr ? nullptr : &instance->development_keys;
}

namespace {

NetsimInstance* require_netsim(const lattice_netsim* handle) {
  NetsimInstance* instance = handle == nullptr ? nullptr : find_netsim(handle);
  if (instance == nullptr) fail(LATTICE_ERROR_STALE_HANDLE, "The netsim handle is null or was destroyed.");
  return instance;
}

}  // namespace
}  // namespace lattice::abi

using namespace lattice;
using abi::fail;

extern "C" {

lattice_netsim* lattice_netsim_create(uint64_t seed) {
  socket::SimulatedNetworkConfig config;
  config.seed = seed;
  auto instance = std::make_unique<abi::NetsimInstance>(config);
  lattice_netsim* handle = abi::register_netsim(instance.get());
  if (handle == nullptr) {
    fail(LATTICE_ERROR_LIMIT, "There are already %u simulated networks. Destroy one first.", abi::kMaxWorlds);
    return nullptr;
  }
  instance.release();  // owned by the table until lattice_netsim_destroy
  return handle;
}

lattice_result lattice_netsim_destroy(lattice_netsim* netsim) {
  if (netsim == nullptr) return LATTICE_OK;
  abi::NetsimInstance* instance = abi::require_netsim(netsim);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  abi::unregister_netsim(netsim);
  delete instance;
  return LATTICE_OK;
}

lattice_result lattice_netsim_set_impairment(lattice_netsim* netsim, const lattice_impairment* impairment) {
  abi::NetsimInstance* instance = abi::require_netsim(netsim);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  socket::Impairment value;
  if (const lattice_result bad = abi::read_impairment(impairment, &value)) return bad;
  instance->network.set_default(value);
  return LATTICE_OK;
}

lattice_result lattice_netsim_set_link(lattice_netsim* netsim, const char* from, const char* to,
                                       const lattice_impairment* impairment) {
  abi::NetsimInstance* instance = abi::require_netsim(netsim);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  socket::Impairment value;
  if (const lattice_result bad = abi::read_impairment(impairment, &value)) return bad;
  platform::Address a;
  platform::Address b;
  if (from == nullptr || to == nullptr || !platform::parse_address(from, &a) ||
      !platform::parse_address(to, &b)) {
    return fail(LATTICE_ERROR_ADDRESS, "A link needs two addresses such as 10.0.0.2:1000.");
  }
  if (!instance->network.set_direction(a, b, value)) {
    return fail(LATTICE_ERROR_NOT_FOUND, "No world is attached at %s or at %s. Create both worlds first.",
                from, to);
  }
  return LATTICE_OK;
}

lattice_result lattice_netsim_advance(lattice_netsim* netsim, uint64_t ns) {
  abi::NetsimInstance* instance = abi::require_netsim(netsim);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  instance->now_ns += ns;
  return LATTICE_OK;
}

uint64_t lattice_netsim_now(lattice_netsim* netsim) {
  abi::NetsimInstance* instance = abi::require_netsim(netsim);
  return instance == nullptr ? 0 : instance->now_ns;
}

uint64_t lattice_netsim_clock(void* netsim) {
  return lattice_netsim_now(static_cast<lattice_netsim*>(netsim));
}

lattice_result lattice_set_impairment(lattice_world* world, lattice_direction direction,
                                      const lattice_impairment* impairment) {
  abi::WorldInstance* instance = abi::require_world(world);
  if (instance == nullptr) return LATTICE_ERROR_STALE_HANDLE;
  socket::Impairment value;
  if (const lattice_result bad = abi::read_impairment(impairment, &value)) return bad;
  switch (direction) {
    case LATTICE_DIRECTION_SEND:
      instance->impaired->configure_send(value);
      return LATTICE_OK;
    case LATTICE_DIRECTION_RECEIVE:
      instance->impaired->configure_receive(value);
      return LATTICE_OK;
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "direction is %d. Give LATTICE_DIRECTION_SEND or _RECEIVE.",
              static_cast<int>(direction));
}

}  // extern "C"
