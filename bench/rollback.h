// The reconciler's part of the codec bench.
#pragma once

#include <string>

#include "registry.h"

namespace bench {

/// Adds reconcile9x100_us: one rollback of 100 objects of 10 members over 9 ticks, without the game. "" or
/// one sentence of cause and one of action.
std::string measure_rollback(const Options& options, Report& report);

}  // namespace bench
