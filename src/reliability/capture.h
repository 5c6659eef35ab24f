// What a capture is given: every datagram of an endpoint, in the form it was meant, not the one it travelled
// in. The AEAD's tap supplies plaintexts, the socket's side datagrams; the tag, which each sealed datagram
// ends with, joins the two. So nothing between them knows that it is watched, and a datagram that did not
// open is still seen as it came.
//
// Without LATTICE_CAPTURE in the build, set_observer() refuses and nothing here is ever called.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "platform/address.h"
#include "transport/crypto/aead_tap.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

struct CapturedDatagram {
  uint64_t now_ns = 0;
  bool is_outgoing = false;
  /// True: `bytes` is outer header, clear part and plaintext, without the tag. False: the datagram as on the
  /// wire.
  bool is_opened = false;
  platform::Address peer;
  std::span<const uint8_t> bytes;  ///< Lives for the call.
};

class CaptureObserver {
 public:
  virtual void on_captured(const CapturedDatagram& datagram) = 0;

 protected:
  ~CaptureObserver() = default;
};

class Capture final : private crypto::AeadTap {
 public:
  Capture() = default;
  ~Capture() { leave(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Borrows `observer` from now on, null for none. False, and nothing set, in a build without captures.
  bool set_observer(CaptureObserver* observer);
  bool is_on() const { return observer_ != nullptr; }

  /// Around everything the endpoint does: its thread's AEAD is watched in between.
  void enter();
  void leave();

  /// A datagram arrived; kept until finish_incoming(), when it is known whether it opened.
  void begin_incoming(const platform::Address& from, std::span<const uint8_t> datagram);
  void finish_incoming(uint64_t now_ns);
  /// A datagram leaves, sealed.
  void outgoing(const platform::Address& to, std::span<const uint8_t> datagram, uint64_t now_ns);

 private:
  static constexpr size_t kTagBytes = 16;
  using Tag = std::array<uint8_t, kTagBytes>;
  struct Plaintext {
    Tag tag{};
    uint64_t number = 0;  ///< Counts plaintexts; 0: none.
    uint32_t bytes = 0;
    std::array<uint8_t, socket::kMaxDatagramBytes> data;  ///< Clear part, then plaintext.
  };
  /// The newest plaintexts by their tag. Those of the handshake are few and stay for its retransmissions.
  class Ring {
   public:
    explicit Ring(size_t capacity);
    /// The oldest entry, to be filled.
    Plaintext& next();
    /// The newest entry with this tag and a number above `after`, or null.
    const Plaintext* find(const Tag& tag, uint64_t after) const;

   private:
    size_t capacity_;
    std::unique_ptr<Plaintext[]> entries_;
    size_t next_ = 0;
  };
  struct Memory {
    Ring handshake{64};  ///< Messages 3, 4 and 6 under way at a time, and then some.
    Ring session{256};   ///< More than one batch of the socket, both ways.
    Plaintext* open_entry = nullptr;
    uint64_t plaintext_count = 0;
    uint64_t count_before_incoming = 0;
    platform::Address from;
    std::array<uint8_t, socket::kMaxDatagramBytes> incoming;
    size_t incoming_bytes = 0;
  };

  void on_plaintext(std::span<const uint8_t> aad, std::span<const uint8_t> plaintext) override;
  void on_tag(std::span<const uint8_t> tag) override;
  /// Looks for the plaintext among those numbered above `after`.
  void tell(CapturedDatagram datagram, uint64_t after);

  CaptureObserver* observer_ = nullptr;
  std::unique_ptr<Memory> memory_;  ///< While observed.
  crypto::AeadTap* outer_ = nullptr;
  bool is_inside_ = false;
};

}  // namespace lattice::reliability
