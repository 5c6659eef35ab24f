// The schema text of a server that refused a client for another schema, as the client puts it together
// (S-44). Each refusal has one page. The client repeats its message 3 for the next, for a while.
//
// Must stay true: it holds at most wire::kMaxSchemaPages pages, all of the schema and the length told last;
// and it asks three times for each page at most, so that copies of an old refusal cannot make a client send
// for long.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <utility>

#include "transport/wire/handshake_bodies.h"

namespace lattice::connection {

class SchemaPages {
 public:
  /// Whether a page came.
  bool any() const { return pages_ != 0; }
  bool complete() const { return pages_ != 0 && have_.count() == pages_; }

  /// Whether the next page may be asked for at once.
  bool take_question() { return questions_ < 3u * pages_ && ++questions_ != 0; }

  /// Takes the page of a refusal that has one. Pages of another text begin anew.
  void take(const wire::ConnectionRefusedSealed& refusal) {
    if (refusal.pages != pages_ || refusal.schema_id != schema_id_) {
      pages_ = refusal.pages;
      schema_id_ = refusal.schema_id;
      have_.reset();
      text_.assign(size_t{pages_} * wire::kSchemaPageBytes, '\0');
    }
    have_.set(refusal.page);
    const size_t first = size_t{refusal.page} * wire::kSchemaPageBytes;
    text_.replace(first, refusal.schema_page.size(),
                  reinterpret_cast<const char*>(refusal.schema_page.data()), refusal.schema_page.size());
    if (refusal.page + 1u == pages_) last_bytes_ = refusal.schema_page.size();
  }

  /// The text up to the first page that is missing. Leaves nothing.
  std::string take_front() {
    size_t pages = 0;
    while (pages < pages_ && have_.test(pages)) ++pages;
    const bool has_last = pages == pages_ && pages != 0;
    text_.resize(pages * wire::kSchemaPageBytes - (has_last ? wire::kSchemaPageBytes - last_bytes_ : 0));
    pages_ = 0;
    return std::exchange(text_, {});
  }

 private:
  uint16_t pages_ = 0;
  uint32_t questions_ = 0;
  uint64_t schema_id_ = 0;
  std::bitset<wire::kMaxSchemaPages> have_;
  size_t last_bytes_ = 0;
  std::string text_;
};

}  // namespace lattice::connection
