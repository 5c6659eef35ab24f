/// @file
/// A connection to one peer. Part of lattice.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lattice/cpp/types.h"
#include "lattice/lattice.h"

namespace lattice {

/// The handle of a connection, as cheap to copy as a pointer. The world owns the connection. A call on one
/// that has ended is refused with LATTICE_ERROR_STALE_HANDLE, a call on a handle of none with
/// LATTICE_ERROR_INVALID_ARGUMENT.
class Connection {
 public:
  /// A handle of no connection.
  Connection() = default;
  /// The handle of a connection of the C interface.
  explicit Connection(lattice_conn* handle) : handle_(handle) {}

  /// True when this is the handle of some connection, even of one that has ended.
  explicit operator bool() const { return handle_ != nullptr; }
  /// The C handle, so that a C function takes a Connection.
  operator lattice_conn*() const { return handle_; }
  /// The C handle; null for no connection.
  lattice_conn* get() const { return handle_; }
  /// Equal when they are handles of the same connection.
  friend bool operator==(const Connection&, const Connection&) = default;

  /// Sends a message, which is copied. Calls lattice_send().
  lattice_result send(lattice_channel channel, std::span<const uint8_t> message) const {
    return lattice_send(handle_, channel, message.data(), message.size());
  }
  /// Sends text as a message, without a final zero. Calls lattice_send().
  ///
  ///     conn.send(LATTICE_CHANNEL_RELIABLE_ORDERED, "hello");
  lattice_result send(lattice_channel channel, std::string_view message) const {
    return lattice_send(handle_, channel, message.data(), message.size());
  }
  /// As send(). On success `receipt` is the number with which on_receipt will say what became of the message.
  /// Calls lattice_send_with_receipt().
  lattice_result send_with_receipt(lattice_channel channel, std::span<const uint8_t> message,
                                   uint32_t& receipt) const {
    return lattice_send_with_receipt(handle_, channel, message.data(), message.size(), &receipt);
  }

  /// Says how the messages of a channel share a full link. Calls lattice_conn_set_channel().
  ///
  ///     conn.set_channel(LATTICE_CHANNEL_UNRELIABLE, voice);
  lattice_result set_channel(lattice_channel channel, const lattice_channel_settings& settings) const {
    return lattice_conn_set_channel(handle_, channel, &settings);
  }

  /// Ends the connection and tells the peer. Calls lattice_disconnect().
  lattice_result disconnect() const { return lattice_disconnect(handle_); }
  /// Ends the connection with a reason and a text for the peer. `text` may be null. Calls
  /// lattice_disconnect_with().
  lattice_result disconnect(int reason, const char* text) const {
    return lattice_disconnect_with(handle_, reason, text);
  }

  /// What is known of the connection; all zero but for struct_size on failure. Calls lattice_conn_get_info().
  lattice_conn_info info() const {
    lattice_conn_info info = sized<lattice_conn_info>();
    lattice_conn_get_info(handle_, &info);
    return info;
  }
  /// The path of the peer; of LATTICE_PATH_NONE when the peer is gone. Calls lattice_conn_get_path().
  lattice_path path() const {
    lattice_path path{};
    lattice_conn_get_path(handle_, &path);
    return path;
  }
  /// The statistics of the connection; all zero but for struct_size on failure. Calls
  /// lattice_conn_get_stats().
  ///
  ///     std::printf("%.0f ms\n", conn.stats().rtt_ms);
  lattice_conn_stats stats() const {
    lattice_conn_stats stats = sized<lattice_conn_stats>();
    lattice_conn_get_stats(handle_, &stats);
    return stats;
  }

  /// Client, when it was refused for its schema: calls `visit(const char*)` for each difference to the
  /// server's. Calls lattice_conn_schema_difference().
  ///
  ///     conn.each_schema_difference([](const char* difference) { std::puts(difference); });
  template <class Visit>
  void each_schema_difference(Visit visit) const {
    const char* difference = nullptr;
    for (uint32_t i = 0; (difference = lattice_conn_schema_difference(handle_, i)) != nullptr; ++i)
      visit(difference);
  }

  /// Authority: says where the client looks from. Calls lattice_conn_set_viewer().
  ///
  ///     lattice::Viewer viewer;
  ///     viewer.room = match;
  ///     conn.set_viewer(viewer);
  lattice_result set_viewer(const lattice_viewer& viewer) const {
    return lattice_conn_set_viewer(handle_, &viewer);
  }
  /// Authority: true when the client has the object, or will have it with its next snapshots. Calls
  /// lattice_conn_has_object().
  bool has_object(lattice_netid object) const { return lattice_conn_has_object(handle_, object) == 1; }
  /// Authority: why the client has the object, has it not, or has an old state of it; empty on failure. Calls
  /// lattice_conn_why().
  ///
  ///     if (const auto why = conn.why(chest)) std::puts(lattice::why_text(*why).c_str());
  std::optional<lattice_why_info> why(lattice_netid object) const {
    std::optional<lattice_why_info> info(sized<lattice_why_info>());
    if (lattice_conn_why(handle_, object, &*info) != LATTICE_OK) info.reset();
    return info;
  }

 private:
  lattice_conn* handle_ = nullptr;
};

/// The answer of Connection::why() as a sentence; "" on failure. Calls lattice_why_text().
inline Text<LATTICE_WHY_TEXT_BYTES> why_text(const lattice_why_info& why) {
  Text<LATTICE_WHY_TEXT_BYTES> text;
  if (lattice_why_text(&why, text.data, sizeof text.data) != LATTICE_OK) text.data[0] = '\0';
  return text;
}

}  // namespace lattice
