#include "abi/development_tokens.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "abi/address_fault.h"
#include "abi/call.h"
#include "abi/netsim_instance.h"
#include "abi/struct_size.h"
#include "abi/token.h"

namespace lattice::abi {
namespace {

using platform::PrivateFileError;
using platform::PrivateFileResult;

// The name contains the server's address: "dev-127.0.0.1:27015".
constexpr const char* kFilePrefix = "dev-";

PrivateFileResult file_of(const platform::Address& address, bool make,
                          char (&out)[platform::kPrivatePathBytes]) {
  char text[platform::kAddressTextBytes];
  char name[sizeof text + 8];
  std::snprintf(name, sizeof name, "%s%s", kFilePrefix, platform::format_address(address, text));
  return platform::private_path(name, make, out);
}

lattice_result fail_to_publish(const char* path, const PrivateFileResult& why) {
  const lattice_result code =
      why.error == PrivateFileError::kNotPrivate ? LATTICE_ERROR_PERMISSION : LATTICE_ERROR_IO;
  return fail(
      code,
      "Cannot leave the development key at %s: its folder %s. Set XDG_RUNTIME_DIR to a folder that only you "
      "can open, or correct this one.",
      path, why.text);
}

lattice_result fail_to_read(const char* path, const PrivateFileResult& why) {
  switch (why.error) {
    case PrivateFileError::kNotFound:
      return fail(
          LATTICE_ERROR_NOT_FOUND,
          "No server has left a development key at %s. Start it as this user with development_tokens 1, and "
          "give its address or file.",
          path);
    case PrivateFileError::kNotPrivate:
      return fail(
          LATTICE_ERROR_PERMISSION,
          "The development key at %s is not used: %s. Restart the server as this user; it writes a "
          "private one.",
          path, why.text);
    case PrivateFileError::kTooLarge:
      return fail(LATTICE_ERROR_TOKEN,
                  "%s is not a development key: it %s. Restart the server; it writes it anew.", path,
                  why.text);
    default:
      return fail(LATTICE_ERROR_IO, "Cannot read the development key at %s: %s.", path, why.text);
  }
}

lattice_result read_key_file(const char* path, crypto::DevelopmentKey* out) {
  std::array<uint8_t, crypto::kDevelopmentKeyTextBytes> text{};
  size_t bytes = 0;
  const PrivateFileResult read = platform::read_private_file(path, text, &bytes);
  if (read.error != PrivateFileError::kNone) return fail_to_read(path, read);
  const bool good = crypto::read_development_key(std::span(text).first(bytes), out);
  crypto::wipe(text.data(), text.size());
  if (good) return LATTICE_OK;
  return fail(LATTICE_ERROR_TOKEN, "%s is not a development key. Restart the server; it writes it anew.",
              path);
}

lattice_result find_simulated_key(const platform::Address& address, const lattice_netsim* netsim,
                                  crypto::DevelopmentKey* out) {
  NetsimHold hold;
  const NetsimInstance* network = hold.enter(netsim);
  if (network == nullptr) return last_result();
  for (const SimulatedDevelopmentKey& entry : network->development_keys) {
    if (entry.address != address) continue;
    out->server_public_key = entry.key.server_public_key;
    out->issuer_seed = entry.key.issuer_seed.clone();
    return LATTICE_OK;
  }
  char text[platform::kAddressTextBytes];
  return fail(LATTICE_ERROR_NOT_FOUND,
              "No world at %s of the simulated network has development_tokens 1. Create the server first.",
              platform::format_address(address, text));
}

}  // namespace

lattice_result check_development_address(const platform::Address& address, const lattice_netsim* netsim) {
  if (netsim != nullptr || platform::is_loopback(address)) return LATTICE_OK;
  char text[platform::kAddressTextBytes];
  return fail(
      LATTICE_ERROR_CONFIG,
      "lattice_world_config.development_tokens is 1 and bind_address is %s. Development tokens are for "
      "loopback only: bind 127.0.0.1 or [::1], or set development_tokens to 0 and give issuer_public_keys.",
      platform::format_address(address, text));
}

DevelopmentOffer::~DevelopmentOffer() {
  if (path_[0] != '\0') platform::remove_private_file(path_);
  if (netsim_ == nullptr) return;
  NetsimHold hold;
  if (NetsimInstance* network = hold.enter(netsim_)) {
    std::erase_if(network->development_keys,
                  [this](const SimulatedDevelopmentKey& entry) { return entry.address == address_; });
  }
}

lattice_result DevelopmentOffer::publish(const platform::Address& address, lattice_netsim* netsim,
                                         crypto::DevelopmentKey key) {
  if (netsim != nullptr) {
    NetsimHold hold;
    NetsimInstance* network = hold.enter(netsim);
    if (network == nullptr) return last_result();
    network->development_keys.push_back({address, std::move(key)});
    netsim_ = netsim;
    address_ = address;
    return LATTICE_OK;
  }
  char path[platform::kPrivatePathBytes] = "";
  if (const PrivateFileResult made = file_of(address, true, path); made.error != PrivateFileError::kNone) {
    return fail_to_publish(path, made);
  }
  std::array<uint8_t, crypto::kDevelopmentKeyTextBytes> text;
  crypto::write_development_key(key, text);
  const PrivateFileResult written = platform::write_private_file(path, text);
  crypto::wipe(text.data(), text.size());
  if (written.error != PrivateFileError::kNone) return fail_to_publish(path, written);
  std::memcpy(path_, path, sizeof path_);
  return LATTICE_OK;
}

lattice_result find_development_key(const char* server, const lattice_netsim* netsim,
                                    crypto::DevelopmentKey* out) {
  // The same rule as in libpq and ssh: an address has no '/', the path of a file always has one.
  if (std::strchr(server, '/') != nullptr) return read_key_file(server, out);
  platform::Address address;
  platform::AddressError fault = platform::AddressError::kNone;
  if (!platform::parse_address(server, &address, &fault)) {
    return fail(LATTICE_ERROR_ADDRESS,
                "'%s': %s. Give the address that you connect to, or a path, which has a '/'.", server,
                abi::address_fault(fault));
  }
  if (netsim != nullptr) return find_simulated_key(address, netsim, out);
  if (!platform::is_loopback(address)) {
    return fail(
        LATTICE_ERROR_NOT_ALLOWED,
        "%s is not a loopback address. Development tokens are for servers on this machine; a token for "
        "another machine comes from its issuer.",
        server);
  }
  char path[platform::kPrivatePathBytes] = "";
  if (const PrivateFileResult named = file_of(address, false, path); named.error != PrivateFileError::kNone) {
    return fail(LATTICE_ERROR_IO, "The folder of development keys cannot be named: %s.", named.text);
  }
  return read_key_file(path, out);
}

}  // namespace lattice::abi

using namespace lattice;
using abi::fail;

extern "C" {

lattice_result lattice_world_development_file(lattice_world* world, char* out, size_t capacity) {
  abi::WorldCall call(world);
  abi::WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the path to.");
  const char* path = instance->development.path();
  if (path[0] == '\0') {
    return fail(
        LATTICE_ERROR_NOT_FOUND,
        "This world has left no development key. Only an authority on UDP with development_tokens 1 does.");
  }
  const size_t bytes = std::strlen(path) + 1;
  if (capacity < bytes) return fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "The path takes %zu bytes.", bytes);
  std::memcpy(out, path, bytes);
  return LATTICE_OK;
}

lattice_result lattice_dev_token(lattice_world* world, const char* server,
                                 const lattice_token_request* request, uint8_t* out, size_t capacity,
                                 size_t* out_bytes) {
  abi::WorldCall call(world);
  abi::WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (server == nullptr || out == nullptr || out_bytes == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_dev_token needs a server, a buffer, and a place for the length.");
  }
  if (!instance->connects()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only a client world needs a token; this one is the authority.");
  }
  lattice_token_request wanted;
  lattice_token_request_init(&wanted);
  if (request != nullptr) {
    if (const lattice_result bad = abi::read_struct(request, &wanted, "lattice_token_request")) return bad;
  }
  if (const lattice_result bad = abi::check_token_request(wanted)) return bad;
  if (capacity < LATTICE_TOKEN_MAX_BYTES) {
    return fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "A token takes up to %u bytes; the buffer has %zu.",
                LATTICE_TOKEN_MAX_BYTES, capacity);
  }
  crypto::DevelopmentKey key;
  if (const lattice_result bad = abi::find_development_key(server, instance->netsim, &key)) return bad;
  // No step fails from here on: a client key made for a failed token would push out the key of another token.
  std::memcpy(wanted.server_public_key, key.server_public_key.data(), LATTICE_KEY_BYTES);
  std::memcpy(wanted.client_public_key, instance->world->new_client_key().data(), LATTICE_KEY_BYTES);
  if (wanted.issued_unix_s == 0) wanted.issued_unix_s = instance->now().unix_s;
  return abi::issue_token(key.issuer_seed.data(), wanted, {out, capacity}, out_bytes);
}

}  // extern "C"
