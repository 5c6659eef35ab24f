// Formatting for the log callback.
#include "base/log.h"

#include <cstdarg>
#include <cstdio>

namespace lattice::base {

const char* log_category_name(LogCategory category) {
  switch (category) {
    case LogCategory::kPlatform:
      return "platform";
    case LogCategory::kSocket:
      return "socket";
    case LogCategory::kCrypto:
      return "crypto";
    case LogCategory::kConnection:
      return "connection";
    case LogCategory::kReliability:
      return "reliability";
    case LogCategory::kSerialization:
      return "serialization";
    case LogCategory::kReplication:
      return "replication";
    case LogCategory::kSimulation:
      return "simulation";
    case LogCategory::kPrediction:
      return "prediction";
    case LogCategory::kWorld:
      return "world";
  }
  return "unknown";
}

const char* log_level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kDebug:
      return "debug";
  }
  return "unknown";
}

void Log::write(LogLevel level, LogCategory category, uint32_t code, const char* format, ...) const {
  if (!enabled(level)) return;
  char message[kLogMessageBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  function_(context_, level, category, code, message);
}

}  // namespace lattice::base
