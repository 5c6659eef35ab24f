// The browser that shows the page, kept apart from this process. It gets none of our descriptors. It lives in
// a session of its own, which neither Ctrl-C nor a closed terminal reaches. It is reaped when it ends.
#pragma once

#include <sys/types.h>

#include <string>

namespace app {

class Browser {
 public:
  /// Opens `url` with xdg-open. Without a display it does nothing. Returns "", or one sentence of cause and
  /// one of action.
  std::string open(const std::string& url);
  /// Notices that the browser has ended. Call it now and then: an ended child stays a zombie until it is
  /// reaped.
  void reap();

 private:
  pid_t pid_ = -1;
};

}  // namespace app
