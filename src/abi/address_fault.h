// What is wrong with an address that the application gave, for the text of an error.
#pragma once

#include "platform/address.h"

namespace lattice::abi {

/// Half a sentence about an address that was not taken.
inline const char* address_fault(platform::AddressError error) {
  switch (error) {
    case platform::AddressError::kPort:
      return "the port is not in 0..65535";
    case platform::AddressError::kHost:
      return "the host is no address, and as a name it does not resolve";
    case platform::AddressError::kNone:
    case platform::AddressError::kForm:
      break;
  }
  return "it is not host:port";
}

}  // namespace lattice::abi
