// lattice_netsim: a seeded network in virtual time, and lattice_set_impairment for real sockets.
#include <memory>

#include "abi/call.h"
#include "abi/impairment.h"
#include "abi/netsim_instance.h"
#include "transport/socket/path_address.h"

using namespace lattice;
using abi::fail;

extern "C" {

lattice_netsim* lattice_netsim_create(uint64_t seed) {
  abi::Call call;
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
  if (netsim == nullptr) {
    abi::Call call;
    return call.result();
  }
  abi::NetsimCall call(netsim);
  abi::NetsimInstance* instance = call.netsim();
  if (instance == nullptr) return call.result();
  if (instance->worlds != 0) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "%u worlds are attached to the network. Destroy them first.",
                instance->worlds);
  }
  abi::unregister_netsim(netsim);
  call.forget();
  delete instance;
  return LATTICE_OK;
}

lattice_result lattice_netsim_set_impairment(lattice_netsim* netsim, const lattice_impairment* impairment) {
  abi::NetsimCall call(netsim);
  abi::NetsimInstance* instance = call.netsim();
  if (instance == nullptr) return call.result();
  socket::Impairment value;
  if (const lattice_result bad = abi::read_impairment(impairment, &value)) return bad;
  instance->network.set_default(value);
  return LATTICE_OK;
}

lattice_result lattice_netsim_set_link(lattice_netsim* netsim, const char* from, const char* to,
                                       const lattice_impairment* impairment) {
  abi::NetsimCall call(netsim);
  abi::NetsimInstance* instance = call.netsim();
  if (instance == nullptr) return call.result();
  socket::Impairment value;
  if (const lattice_result bad = abi::read_impairment(impairment, &value)) return bad;
  platform::Address a;
  platform::Address b;
  if (from == nullptr || to == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "An address of the link is NULL. Give two such as 10.0.0.2:1000.");
  }
  if (!platform::parse_address(from, &a) || !platform::parse_address(to, &b)) {
    return fail(LATTICE_ERROR_ADDRESS, "A link needs two addresses such as 10.0.0.2:1000.");
  }
  if (!instance->network.set_direction(socket::path_of(a), socket::path_of(b), value)) {
    return fail(LATTICE_ERROR_NOT_FOUND, "No world is attached at %s or at %s. Create both worlds first.",
                from, to);
  }
  return LATTICE_OK;
}

lattice_result lattice_netsim_advance(lattice_netsim* netsim, uint64_t ns) {
  abi::NetsimCall call(netsim);
  abi::NetsimInstance* instance = call.netsim();
  if (instance == nullptr) return call.result();
  instance->now_ns += ns;
  return LATTICE_OK;
}

uint64_t lattice_netsim_now(lattice_netsim* netsim) {
  abi::NetsimCall call(netsim);
  return call.netsim() == nullptr ? 0 : call.netsim()->now_ns;
}

uint64_t lattice_netsim_clock(void* netsim) {
  abi::NetsimCall call(static_cast<lattice_netsim*>(netsim));
  return call.netsim() == nullptr ? 0 : call.netsim()->now_ns;
}

lattice_result lattice_set_impairment(lattice_world* world, lattice_direction direction,
                                      const lattice_impairment* impairment) {
  abi::WorldCall call(world);
  abi::WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
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
