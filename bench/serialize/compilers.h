// What a schema costs to compile.
#pragma once

#include <string>

#include "report.h"

namespace bench::serialize {

/// Reports latticec_1000_types_s, and compile_time_ratio: a translation unit with 50 declared structures
/// against one with the same structures as plain C++. "" or one sentence of cause and one of action.
std::string measure_compilers(bool quick, Report& report);

}  // namespace bench::serialize
