// The scenes of the replication bench that run in one process and in virtual time.
#pragma once

#include <cstdint>
#include <string>

#include "registry.h"
#include "replication_run.h"

namespace bench {

/// Runs each once into `report`. `number` is that of the repetition and chooses the losses. "" or one
/// sentence of cause and one of action.
std::string measure_virtual_scenes(const ReplicationPlan& plan, bool quick, uint32_t number, Report& report);

}  // namespace bench
