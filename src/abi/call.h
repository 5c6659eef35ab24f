// Every exported function begins with a Call, or with the kind of Call that fits its handle.
//
// A Call sets lattice_last_result(). When the function returns, the last result is LATTICE_OK and "", unless
// fail() was called for this very call; calls made by callbacks meanwhile do not count. WorldCall,
// ConnectionCall and NetsimCall also find the object of the handle and hold it for this thread, so that a
// second thread gets LATTICE_ERROR_BUSY. A callback on the same thread may enter again.
//
// Must stay true: a failing call calls fail() last, and no callback of the game runs after it. No exported
// function calls another that may fail: the failure would belong to the inner call, not to the outer.
#pragma once

#include "abi/handle_table.h"
#include "abi/last_error.h"
#include "abi/world_instance.h"

namespace lattice::abi {

/// fail() with LATTICE_ERROR_NOT_CONNECTED, that text, and what differs in the schemas when that is why the
/// server refused this client last.
lattice_result fail_not_connected(const WorldInstance& world, const char* text);
/// The same, for a connection on which nothing can be sent yet, or any more.
lattice_result fail_not_established(const WorldInstance& world, const WorldInstance::Connection& connection);

struct ThreadState;  // call.cpp: the state behind lattice_last_result() and lattice_last_error()

class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// LATTICE_OK until fail().
  lattice_result result() const { return result_; }

 protected:
  /// The same in every call of this thread, and in no other thread's.
  const void* thread() const { return &thread_; }

 private:
  friend void note_failure(lattice_result code);
  ThreadState& thread_;  // looked up once, because the look-up costs a function call
  Call* outer_;
  lattice_result result_ = LATTICE_OK;
};

/// Holds a simulated network for this thread.
class NetsimHold {
 public:
  NetsimHold() = default;
  ~NetsimHold() { leave(); }
  NetsimHold(const NetsimHold&) = delete;
  NetsimHold& operator=(const NetsimHold&) = delete;

  /// The network behind `handle`, which is not null. Null with the error set when the network was destroyed
  /// or another thread holds it.
  NetsimInstance* enter(const lattice_netsim* handle);
  /// The same, for the thread of a Call.
  NetsimInstance* enter(const lattice_netsim* handle, const void* thread);
  /// The network was destroyed, so the destructor must not leave it.
  void forget() { held_ = nullptr; }

 private:
  void leave();
  const lattice_netsim* held_ = nullptr;
};

class WorldCall : public Call {
 public:
  explicit WorldCall(const lattice_world* handle);
  ~WorldCall();

  /// Null when the handle is bad or another thread is inside: result() says which.
  WorldInstance* world() const { return world_; }
  /// True inside a callback of the same world.
  bool is_nested() const { return is_nested_; }
  /// The world was destroyed, so the destructor must not leave it.
  void forget() { held_ = nullptr; }

 private:
  WorldInstance* world_ = nullptr;
  const lattice_world* held_ = nullptr;
  bool is_nested_ = false;
  NetsimHold netsim_;
};

class ConnectionCall : public WorldCall {
 public:
  explicit ConnectionCall(const lattice_conn* handle);

  /// Null when the handle is bad, its connection has ended or another thread is inside: result() says which.
  WorldInstance* world() const { return entry_ == nullptr ? nullptr : WorldCall::world(); }
  world::ConnectionHandle connection() const { return entry_->handle; }
  WorldInstance::Connection& entry() const { return *entry_; }

 private:
  WorldInstance::Connection* entry_ = nullptr;
};

class NetsimCall : public Call {
 public:
  explicit NetsimCall(const lattice_netsim* handle);

  /// Null when the handle is bad or another thread is inside: result() says which.
  NetsimInstance* netsim() const { return netsim_; }
  void forget() { hold_.forget(); }

 private:
  NetsimHold hold_;
  NetsimInstance* netsim_ = nullptr;
};

}  // namespace lattice::abi
