// Exit codes every program of the project shares.
#pragma once

namespace app {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,        // a check or a target was missed, or something else went wrong
  kExitUsage = 2,         // the command line
  kExitConfig = 3,        // a configuration file or environment value
  kExitPort = 4,          // the port is taken, or permission is missing
  kExitUnreachable = 5,   // what we depend on does not answer
  kExitIncompatible = 6,  // versions or schemas differ
  kExitInterrupted = 130
};

}  // namespace app
