// The browser that shows the page: a stranger to this process. It gets none of our descriptors, lives in a
// session of its own, which neither Ctrl-C nor a closed terminal reaches, and is reaped when it ends.
#pragma once

#include <sys/types.h>

#include <string>

namespace app {

class Browser {
 public:
  /// Opens `url` with xdg-open. Without a display, does nothing. "" or one sentence of cause and one of
  /// action.
  std::string open(const std::string& url);
  /// Takes note of its end. To be called now and then; an ended child stays a zombie until somebody asks.
  void reap();

 private:
  pid_t pid_ = -1;
};

}  // namespace app
