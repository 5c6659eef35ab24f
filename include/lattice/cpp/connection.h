// A connection to one peer. Part of lattice.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lattice/cpp/types.h"
#include "lattice/lattice.h"

namespace lattice {

/// A handle, as cheap to copy as a pointer. The world owns the connection; a handle of one that has ended is
/// refused with LATTICE_ERROR_STALE_HANDLE. A handle of none is false.
class Connection {
 public:
  Connection() = default;
  explicit Connection(lattice_conn* handle) : handle_(handle) {}

  explicit operator bool() const { return handle_ != nullptr; }
  operator lattice_conn*() const { return handle_; }
  lattice_conn* get() const { return handle_; }
  friend bool operator==(const Connection&, const Connection&) = default;

  lattice_result send(lattice_channel channel, std::span<const uint8_t> message) const {
    return lattice_send(handle_, channel, message.data(), message.size());
  }
  lattice_result send(lattice_channel channel, std::string_view message) const {
    return lattice_send(handle_, channel, message.data(), message.size());
  }
  /// As send(); on_receipt is told the number and what became of the message.
  lattice_result send_with_receipt(lattice_channel channel, std::span<const uint8_t> message,
                                   uint32_t& receipt) const {
    return lattice_send_with_receipt(handle_, channel, message.data(), message.size(), &receipt);
  }

  lattice_result disconnect() const { return lattice_disconnect(handle_); }
  /// `text` may be null.
  lattice_result disconnect(int reason, const char* text) const {
    return lattice_disconnect_with(handle_, reason, text);
  }

  lattice_conn_info info() const {
    lattice_conn_info info = sized<lattice_conn_info>();
    lattice_conn_get_info(handle_, &info);
    return info;
  }
  lattice_conn_stats stats() const {
    lattice_conn_stats stats = sized<lattice_conn_stats>();
    lattice_conn_get_stats(handle_, &stats);
    return stats;
  }

 private:
  lattice_conn* handle_ = nullptr;
};

}  // namespace lattice
