// What a connection needs from outside. An endpoint has one context, which all of its connections hold as
// const: what is here by value the endpoint writes and connections only read; what is here by reference
// connections use, each through the methods of its class.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer_pool.h"
#include "base/path_id.h"
#include "reliability/channel/receive_memory.h"
#include "reliability/endpoint/datagram_batch.h"
#include "reliability/endpoint/endpoint_clock.h"
#include "reliability/endpoint/endpoint_config.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "reliability/endpoint/service_schedule.h"
#include "reliability/endpoint/statistics.h"
#include "reliability/recovery/carried_items.h"
#include "transport/connection/server_handshake.h"
#include "transport/connection/stateless_resets.h"
#include "transport/crypto/entropy.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

struct ConnectionContext {
  EndpointClock clock = {};
  EndpointConfig config = {};
  uint32_t server_tick = 0;
  bool is_timeout_paused = false;
  /// The last ICMP report that an address is unreachable.
  struct Unreachable {
    base::PathId about;
    uint64_t at_ns = 0;
  };
  Unreachable unreachable = {};
  // On a side that accepts connections; else null.
  connection::ServerHandshake* server = nullptr;
  const connection::StatelessResets* resets = nullptr;

  const socket::DatagramSocket& socket;
  EndpointHandler& handler;
  crypto::EntropySource& entropy;
  base::BufferPool& pool;  ///< Everything that is sent, and the arrays of what is received.
  ReceiveMemory& receive_memory;
  CarriedItems& items;
  DatagramBatch& batch;
  ServiceSchedule& schedule;
  EndpointStats& totals;
  /// Room for the messages of the packet that is being processed.
  std::span<wire::Message> framed_messages;
};

}  // namespace lattice::reliability
