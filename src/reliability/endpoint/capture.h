// Reports every datagram of an endpoint to a capture, in plaintext. The tap of the AEAD supplies plaintexts,
// and the endpoint supplies sealed datagrams. The authentication tag at the end of each sealed datagram joins
// the two. So the code between the AEAD and the socket needs no change for captures. A datagram that did not
// open is reported as it came.
//
// Without LATTICE_CAPTURE in the build, set_observer() refuses and nothing else here is ever called.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/path_id.h"
#include "transport/crypto/aead_tap.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

struct CapturedDatagram {
  uint64_t now_ns = 0;
  bool is_outgoing = false;
  /// True: `bytes` is outer header, clear part and plaintext, without the tag. False: the datagram as on the
  /// wire.
  bool is_opened = false;
  base::PathId peer;
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

  /// Borrows `observer` from now on; null ends the capture. False, and nothing set, in a build without
  /// captures.
  bool set_observer(CaptureObserver* observer);
  bool is_on() const { return observer_ != nullptr; }

  /// Every call of the endpoint begins with enter() and ends with leave(). In between, the tap is set on the
  /// AEAD of the calling thread.
  void enter();
  void leave();

  /// A datagram arrived. It is kept until finish_incoming(), when its plaintext is known, if it opened.
  void begin_incoming(const base::PathId& from, std::span<const uint8_t> datagram);
  void finish_incoming(uint64_t now_ns);
  /// The datagram that began is not reported: it comes again when it is opened.
  void forget_incoming();
  /// A datagram leaves, sealed.
  void outgoing(const base::PathId& to, std::span<const uint8_t> datagram, uint64_t now_ns);

 private:
  static constexpr size_t kTagBytes = 16;
  using Tag = std::array<uint8_t, kTagBytes>;
  struct Plaintext {
    Tag tag{};
    uint64_t number = 0;  ///< Counts plaintexts; 0: none.
    uint32_t bytes = 0;
    std::array<uint8_t, socket::kMaxDatagramBytes> data;  ///< Clear part, then plaintext.
  };
  /// The newest plaintexts by their tag. Handshake plaintexts have their own ring: they are few, and stay for
  /// retransmissions.
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
    Ring handshake{64};  ///< More than the messages 3, 4 and 6 in flight at a time.
    Ring session{256};   ///< More than one batch of the socket in both directions.
    Plaintext* open_entry = nullptr;
    uint64_t plaintext_count = 0;
    uint64_t count_before_incoming = 0;
    base::PathId from;
    std::array<uint8_t, socket::kMaxDatagramBytes> incoming;
    size_t incoming_bytes = 0;
    bool is_forgotten = false;
  };

  void on_plaintext(std::span<const uint8_t> aad, std::span<const uint8_t> plaintext) override;
  void on_tag(std::span<const uint8_t> tag) override;
  /// Reports `datagram`, with its plaintext if a plaintext numbered above `after` has its tag.
  void tell(CapturedDatagram datagram, uint64_t after);

  CaptureObserver* observer_ = nullptr;
  std::unique_ptr<Memory> memory_;  ///< While observed.
  crypto::AeadTap* outer_ = nullptr;
  bool is_inside_ = false;
};

}  // namespace lattice::reliability
