// Outer header: every header that parses has exactly one encoding (the receiver checks the AAD that it
// parsed).
#include <cstdlib>
#include <cstring>

#include "transport/wire/packet_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lattice::wire;
  PacketHeader header;
  size_t header_bytes = 0;
  const HeaderStatus status = parse_packet_header({data, size}, kProtocolId, &header, &header_bytes);
  if (status != HeaderStatus::kOk && status != HeaderStatus::kWrongVersion) return 0;
  if (header_bytes < kMinHeaderBytes || header_bytes > kMaxHeaderBytes || header_bytes > size) std::abort();
  uint8_t again[kMaxHeaderBytes];
  if (encode_packet_header(header, again) != header_bytes) std::abort();
  if (std::memcmp(again, data, header_bytes) != 0) std::abort();
  return 0;
}
