// Messages for people go to one callback of the application. The library itself never prints.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/compiler.h"

namespace lattice::base {

enum class LogLevel : uint8_t { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

/// The part of the library that logs; applications filter by it.
enum class LogCategory : uint8_t {
  kPlatform,
  kSocket,
  kCrypto,
  kConnection,
  kReliability,
  kSerialization,
  kReplication,
  kSimulation,
  kPrediction,
  kWorld,
};

/// A stable lower-case name such as "connection".
const char* log_category_name(LogCategory category);
const char* log_level_name(LogLevel level);

/// `code` is a stable number within the category, for filtering and tests. `message` is one
/// zero-terminated line, valid during the call only.
using LogFunction = void (*)(void* context, LogLevel level, LogCategory category, uint32_t code,
                             const char* message);

/// Longest message passed on, with its zero; longer text is cut.
inline constexpr size_t kLogMessageBytes = 256;

/// A plain value: every object that logs holds a copy. Without a callback, a call costs one test.
class Log {
 public:
  Log() = default;
  Log(LogFunction function, void* context, LogLevel most_detailed)
      : function_(function), context_(context), most_detailed_(most_detailed) {}

  bool enabled(LogLevel level) const { return function_ != nullptr && level <= most_detailed_; }

  /// Formats as printf into a stack buffer and calls the callback; nothing is allocated.
  LATTICE_PRINTF(5, 6)
  void write(LogLevel level, LogCategory category, uint32_t code, const char* format, ...) const;

 private:
  LogFunction function_ = nullptr;
  void* context_ = nullptr;
  LogLevel most_detailed_ = LogLevel::kInfo;
};

}  // namespace lattice::base
