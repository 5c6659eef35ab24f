#include <array>

#include "transport/end.h"

namespace bench {

std::span<const Contender> contenders() {
  static const std::array kAll = {
    kLatticeContender,
    kLatticeTwoThreadsContender,
    kLatticeCContender,
    kUdpContender,
    kUdpAeadContender,
    kUdpAesContender,
    kBulkFloorContender,
    kBulkAesFloorContender,
#if LATTICE_BENCH_HAS_ENET
    kEnetContender,
#endif
  };
  return kAll;
}

const Contender* find_contender(std::string_view name) {
  for (const Contender& contender : contenders()) {
    if (contender.name == name) return &contender;
  }
  return nullptr;
}

}  // namespace bench
