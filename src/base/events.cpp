#include "base/events.h"

namespace lattice::base {
namespace {

struct Entry {
  std::string_view name;
  const char* text;
};

constexpr Entry kEntries[] = {
#define LATTICE_EVENT_LINK(id, name, text) {name, text},
#define LATTICE_EVENT_FRAMING LATTICE_EVENT_LINK
#define LATTICE_EVENT_ROTATION LATTICE_EVENT_LINK
#define LATTICE_EVENT_ENDPOINT LATTICE_EVENT_LINK
#define LATTICE_EVENT_SERVER LATTICE_EVENT_LINK
#define LATTICE_EVENT_CLIENT LATTICE_EVENT_LINK
#define LATTICE_EVENT_RPC LATTICE_EVENT_LINK
#define LATTICE_EVENT_TRANSFER LATTICE_EVENT_LINK
#define LATTICE_EVENT_SNAPSHOT LATTICE_EVENT_LINK
#define LATTICE_EVENT_INPUT LATTICE_EVENT_LINK
#define LATTICE_EVENT_WORLD LATTICE_EVENT_LINK
#define LATTICE_EVENT_SOCKET LATTICE_EVENT_LINK
#include "base/events.def"
};

}  // namespace

const char* event_text(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.text;
  }
  return nullptr;
}

}  // namespace lattice::base
