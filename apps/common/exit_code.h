// The exit codes that all programs of the project share.
#pragma once

#include <cerrno>

namespace app {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,        // a check or a target was missed, or something else went wrong
  kExitUsage = 2,         // the command line is wrong
  kExitConfig = 3,        // a configuration file or an environment value is wrong
  kExitPort = 4,          // the port or the data folder is taken, or permission is missing
  kExitUnreachable = 5,   // something the program depends on does not answer
  kExitIncompatible = 6,  // versions or schemas differ
  kExitInterrupted = 130
};

/// The exit code of a file that could not be written.
inline int exit_for(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO ? kExitFailed : kExitPort;
}

}  // namespace app
