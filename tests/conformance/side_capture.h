// Writes the capture of one endpoint of a recorded session as a pcapng file.
#pragma once

#include <string>

#include "fragment/fragmenting_endpoint.h"
#include "pcapng_writer.h"
#include "reliability/endpoint/capture.h"
#include "unit/reliability/endpoint_rig.h"

namespace lattice::test {

class SideCapture final : public reliability::CaptureObserver {
 public:
  /// Begins to capture `node` into the file `path`; `node` must be destroyed before this object. False when
  /// this build has no captures, or when the file cannot be made.
  bool start(NodeOf<fragment::FragmentingEndpoint>& node, const std::string& path);
  void on_captured(const reliability::CapturedDatagram& datagram) override;
  bool finish() { return writer_.close(); }

 private:
  base::PathId own_;
  app::PcapngWriter writer_;
};

}  // namespace lattice::test
