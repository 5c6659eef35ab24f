// A client behind the AEAD and a hostile server: connection_session.h describes the input.
#include "connection_session.h"
#include "unit/reliability/raw_server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using lattice::fragment::FragmentingEndpoint;
  lattice::fuzz::play_session<lattice::test::RawServerOf<FragmentingEndpoint>>({data, size});
  return 0;
}
