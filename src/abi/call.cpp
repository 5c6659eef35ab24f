// See call.h.
#include "abi/call.h"

#include <cstdarg>
#include <cstdio>

namespace lattice::abi {

struct ThreadState {
  Call* innermost = nullptr;
  lattice_result code = LATTICE_OK;
  char text[512] = "";
};

namespace {

thread_local ThreadState g_last;

lattice_result refuse(Entry entry, const char* what) {
  if (entry == Entry::kBusy) {
    return fail(LATTICE_ERROR_BUSY,
                "Another thread is inside the same %s. Use one thread at a time, or a lock of your own.",
                what);
  }
  return fail(LATTICE_ERROR_STALE_HANDLE, "The handle is not one of a %s that is alive. Forget it.", what);
}

}  // namespace

void note_failure(lattice_result code) {
  g_last.code = code;
  if (g_last.innermost != nullptr) g_last.innermost->result_ = code;
}

lattice_result fail(lattice_result code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(g_last.text, sizeof g_last.text, format, arguments);
  va_end(arguments);
  note_failure(code);
  return code;
}

void tell_callback(lattice_result code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(g_last.text, sizeof g_last.text, format, arguments);
  va_end(arguments);
  g_last.code = code;
}

lattice_result fail_not_connected(const WorldInstance& world, const char* text) {
  return fail(LATTICE_ERROR_NOT_CONNECTED, "%s%s%s", text, world.refused_for.empty() ? "" : " ",
              world.refused_for.c_str());
}

lattice_result fail_not_established(const WorldInstance& world, const WorldInstance::Connection& connection) {
  return fail_not_connected(world, connection.info.peer_id == 0
                                       ? "The connection is not established yet. Wait for on_connected."
                                       : "The connection has ended.");
}

lattice_result last_result() {
  return g_last.code;
}

const char* last_error() {
  return g_last.text;
}

Call::Call() : thread_(g_last), outer_(thread_.innermost) {
  thread_.innermost = this;
}

Call::~Call() {
  thread_.innermost = outer_;
  thread_.code = result_;
  if (result_ == LATTICE_OK) thread_.text[0] = '\0';
}

NetsimInstance* NetsimHold::enter(const lattice_netsim* handle) {
  return enter(handle, &g_last);
}

NetsimInstance* NetsimHold::enter(const lattice_netsim* handle, const void* thread) {
  NetsimInstance* netsim = nullptr;
  const Entry entry = enter_netsim(handle, thread, &netsim);
  if (entry == Entry::kEntered) held_ = handle;
  if (netsim == nullptr) refuse(entry, "simulated network");
  return netsim;
}

void NetsimHold::leave() {
  if (held_ != nullptr) leave_netsim(held_);
  held_ = nullptr;
}

WorldCall::WorldCall(const lattice_world* handle) {
  if (handle == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "The world handle is NULL. Give the one of lattice_world_create().");
    return;
  }
  const Entry entry = enter_world(handle, thread(), &world_);
  if (world_ == nullptr) {
    refuse(entry, "world");
    return;
  }
  is_nested_ = entry == Entry::kNested;
  if (!is_nested_) held_ = handle;
  if (world_->netsim != nullptr && netsim_.enter(world_->netsim, thread()) == nullptr) world_ = nullptr;
}

WorldCall::~WorldCall() {
  if (held_ != nullptr) leave_world(held_);
}

ConnectionCall::ConnectionCall(const lattice_conn* handle) : WorldCall(world_of(handle)) {
  WorldInstance* world = WorldCall::world();
  if (handle == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT,
         "The connection handle is NULL. Give the one of lattice_connect() or on_connected.");
  } else if (world != nullptr) {
    entry_ = world->find(connection_of(handle));
    if (entry_ == nullptr) {
      fail(LATTICE_ERROR_STALE_HANDLE, "The connection has ended. Forget its handle with its end.%s%s",
           world->refused_for.empty() ? "" : " ", world->refused_for.c_str());
    }
  }
}

NetsimCall::NetsimCall(const lattice_netsim* handle) {
  if (handle == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT,
         "The network handle is NULL. Give the one of lattice_netsim_create().");
  } else {
    netsim_ = hold_.enter(handle, thread());
  }
}

}  // namespace lattice::abi
