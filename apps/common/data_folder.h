// The folder of one server: its keys and its note. It has one owner at a time.
#pragma once

#include <string>

namespace app {

/// Holds the folder for this process until it is destroyed, or the process ends in whatever way.
class DataFolder {
 public:
  DataFolder() = default;
  ~DataFolder();
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  /// Makes the folder where there is none, and takes it. Returns "", or a text that says what is wrong and
  /// what to do: of a folder that is taken, who has it.
  std::string take(const std::string& path);
  /// Tells who asks for the folder where its owner listens.
  void tell(const std::string& address) const;

 private:
  int lock_fd_ = -1;  // no other descriptor of the file may be closed meanwhile: that would unlock it
};

}  // namespace app
