// What generated code of a language stands on: one file, the same for every schema.
#pragma once

#include <string_view>

namespace latticec {

std::string_view csharp_runtime();
std::string_view typescript_runtime();

}  // namespace latticec
