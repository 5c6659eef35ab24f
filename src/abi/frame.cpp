// Frames: one moment for all views, and what happened since the frame before.
#include "lattice/frame.h"

#include "abi/call.h"
#include "abi/struct_size.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

void put(std::span<const lattice_frame_object> objects, const lattice_frame_object** out, uint32_t* count) {
  *out = objects.empty() ? nullptr : objects.data();
  *count = static_cast<uint32_t>(objects.size());
}

}  // namespace

extern "C" {

lattice_result lattice_frame_begin(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  instance->world->begin_frame(instance->now());
  return LATTICE_OK;
}

lattice_result lattice_frame_get(lattice_world* world, lattice_frame* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::FrameLog& log = instance->world->frame_log();
  if (out != nullptr && !log.collects()) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER, "No frame has begun. Call lattice_frame_begin() first.");
  }
  lattice_frame frame{};
  frame.number = log.number();
  frame.tick = log.tick();
  const simulation::Sight view = simulation::sight_of(log.view_time(), 0);
  frame.view_tick = view.view_tick;
  frame.view_fraction = view.view_fraction;
  put(log.shown_left(), &frame.left, &frame.left_count);
  put(log.shown_spawned(), &frame.spawned, &frame.spawned_count);
  put(log.shown_changed(), &frame.changed, &frame.changed_count);
  put(log.shown_corrected(), &frame.corrected, &frame.corrected_count);
  return abi::write_struct(frame, out, "lattice_frame");
}

}  // extern "C"
