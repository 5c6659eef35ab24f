#include "capture_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "log.h"
#include "process.h"

namespace app {
namespace {

PcapngAddress address(const uint8_t (&ip)[16], uint16_t port) {
  PcapngAddress out;
  std::copy(std::begin(ip), std::end(ip), out.ip.begin());
  out.port = port;
  return out;
}

}  // namespace

std::string CaptureFile::start(lattice_world* world, const std::string& path) {
  if (lattice_set_capture(world, &CaptureFile::on_captured, this) != LATTICE_OK) return lattice_last_error();
  return writer_.open(path);
}

void CaptureFile::catch_up() {
  writer_.flush();
  switch (writer_.look()) {
    case LossWatch::Change::kNone:
      return;
    case LossWatch::Change::kBegan:
      return log_line(LATTICE_LOG_ERROR, "capture", "the file loses datagrams",
                      {{"file", path()}, {"why", std::strerror(writer_.error())}});
    case LossWatch::Change::kEnded:
      return log_line(LATTICE_LOG_WARNING, "capture", "the file is written again",
                      {{"file", path()}, {"missing", writer_.lost()}});
  }
}

void CaptureFile::on_captured(void* context, const lattice_captured_datagram* datagram) {
  auto& self = *static_cast<CaptureFile*>(context);
  const uint64_t time_us = datagram->time_ns / 1000;
  if (self.offset_us_ == 0) self.offset_us_ = unix_ms() * 1000 - time_us;
  PcapngAddress source = address(datagram->local_ip, datagram->local_port);
  PcapngAddress destination = address(datagram->remote_ip, datagram->remote_port);
  if ((datagram->flags & LATTICE_CAPTURED_OUTGOING) == 0) std::swap(source, destination);
  const bool is_opened = (datagram->flags & LATTICE_CAPTURED_OPENED) != 0;
  self.writer_.write(self.offset_us_ + time_us, source, destination, is_opened ? "lattice_opened" : "lattice",
                     {datagram->data, datagram->bytes});
}

}  // namespace app
