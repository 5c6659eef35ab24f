// A server behind the AEAD and a hostile client: connection_session.h describes the input.
#include "connection_session.h"
#include "unit/reliability/raw_client.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using lattice::fragment::FragmentingEndpoint;
  lattice::fuzz::play_session<lattice::test::RawClientOf<FragmentingEndpoint>>({data, size});
  return 0;
}
