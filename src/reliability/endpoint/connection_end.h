// How a connection ended, and whether the application still has to hear of it. A connection may end in the
// middle of a callback; the report waits until the end of the phase.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "transport/connection/disconnect_reason.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/utf8.h"

namespace lattice::reliability {

class ConnectionEnd {
 public:
  /// The application knows of the connection: it hears of the end too.
  void announce() { is_announced_ = true; }
  bool is_announced() const { return is_announced_; }

  /// Keeps why the connection ended, for the report and for the Disconnect. `text` is cut at 64 bytes, and
  /// before what may not go on the wire: half a character, or one that W-29 forbids.
  void note(connection::DisconnectReason reason, uint64_t remote_schema, std::string_view text) {
    reason_ = reason;
    remote_schema_ = remote_schema;
    size_t bytes = std::min(text.size(), text_.size());
    const auto* characters = reinterpret_cast<const uint8_t*>(text.data());
    while (bytes != 0 && !wire::is_valid_reason_text({characters, bytes})) --bytes;
    std::copy_n(text.begin(), bytes, text_.begin());
    text_bytes_ = static_cast<uint8_t>(bytes);
    report_waits_ = true;
  }
  /// True once after note(): the end is to be reported now.
  bool take_report() { return std::exchange(report_waits_, false); }

  connection::DisconnectReason reason() const { return reason_; }
  uint64_t remote_schema() const { return remote_schema_; }
  std::string_view text() const { return {text_.data(), text_bytes_}; }
  /// What the server told of its schema: the text or the front of it; empty: nothing.
  void note_schema(std::string text) { schema_text_ = std::move(text); }
  const std::string& schema_text() const { return schema_text_; }

 private:
  bool is_announced_ = false;
  bool report_waits_ = false;
  uint8_t text_bytes_ = 0;
  connection::DisconnectReason reason_ = connection::DisconnectReason::kNone;
  uint64_t remote_schema_ = 0;
  std::array<char, wire::kMaxReasonTextBytes> text_{};
  std::string schema_text_;
};

}  // namespace lattice::reliability
