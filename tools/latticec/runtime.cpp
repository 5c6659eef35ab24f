#include "runtime.h"

namespace latticec {

std::string_view csharp_runtime() {
  return
#include "runtime_Lattice_cs.inc"
      ;
}

std::string_view typescript_runtime() {
  return
#include "runtime_lattice_ts.inc"
      ;
}

}  // namespace latticec
