// What one endpoint of a recorded session captures, as a pcapng file.
#pragma once

#include <string>

#include "pcapng_writer.h"
#include "reliability/capture.h"
#include "transport/fragment/fragmenting_endpoint.h"
#include "unit/reliability/endpoint_rig.h"

namespace lattice::test {

class SideCapture final : public reliability::CaptureObserver {
 public:
  /// Begins to capture `node`, which must be gone before this, into the file `path`. False when this build
  /// has no captures, or the file cannot be made.
  bool start(NodeOf<fragment::FragmentingEndpoint>& node, const std::string& path);
  void on_captured(const reliability::CapturedDatagram& datagram) override;
  bool finish() { return writer_.close(); }

 private:
  platform::Address own_;
  app::PcapngWriter writer_;
};

}  // namespace lattice::test
