/// @file
/// A C++ object as a datagram back end (lattice/backend.h). Included by lattice.hpp.
#ifndef LATTICE_CPP_BACKEND_H
#define LATTICE_CPP_BACKEND_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lattice/backend.h"

namespace lattice {

/// The back end that calls the members of `object`, which lattice_datagram_backend describes:
///
///     uint32_t receive(std::span<lattice_backend_datagram> out);                // needed
///     uint32_t send(std::span<const lattice_backend_datagram> datagrams);       // needed
///     uint32_t largest_datagram(const lattice_path& path);
///     uint64_t rate_subject(const lattice_path& path);
///     intptr_t descriptor();
///     void close();
///
/// `object` is borrowed: it must live until close(), or until the world is destroyed. An exception that
/// leaves a member ends the program, because it cannot pass through the library.
template <class Object>
lattice_datagram_backend backend_of(Object& object) {
  static_assert(
      requires(std::span<lattice_backend_datagram> out, std::span<const lattice_backend_datagram> datagrams) {
        { object.receive(out) } -> std::convertible_to<uint32_t>;
        { object.send(datagrams) } -> std::convertible_to<uint32_t>;
      },
      "a back end has public members receive and send: see lattice/cpp/backend.h");
  lattice_datagram_backend out;
  lattice_datagram_backend_init(&out);
  out.ctx = &object;
  out.receive = [](void* ctx, lattice_backend_datagram* entries, uint32_t capacity) noexcept -> uint32_t {
    return static_cast<Object*>(ctx)->receive(std::span(entries, capacity));
  };
  out.send = [](void* ctx, const lattice_backend_datagram* datagrams, uint32_t count) noexcept -> uint32_t {
    return static_cast<Object*>(ctx)->send(std::span(datagrams, count));
  };
  if constexpr (requires(const lattice_path& path) { object.largest_datagram(path); }) {
    out.largest_datagram = [](void* ctx, const lattice_path* path) noexcept -> uint32_t {
      return static_cast<Object*>(ctx)->largest_datagram(*path);
    };
  }
  if constexpr (requires(const lattice_path& path) { object.rate_subject(path); }) {
    out.rate_subject = [](void* ctx, const lattice_path* path) noexcept -> uint64_t {
      return static_cast<Object*>(ctx)->rate_subject(*path);
    };
  }
  if constexpr (requires { object.descriptor(); }) {
    out.descriptor = [](void* ctx) noexcept -> intptr_t { return static_cast<Object*>(ctx)->descriptor(); };
  }
  if constexpr (requires { object.close(); }) {
    out.close = [](void* ctx) noexcept { static_cast<Object*>(ctx)->close(); };
  }
  return out;
}

}  // namespace lattice

#endif
