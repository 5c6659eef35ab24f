// Code of C# and TypeScript that fills objects of generated classes from host memory, as C++ has it.
#pragma once

#include <string>

#include "check.h"

namespace languages {

/// What is tested of a schema: a structure, or an object of several.
struct Tested {
  std::string name;
  std::vector<const latticec::CheckedStructure*> structures;
  const latticec::CheckedObject* object = nullptr;
  /// Where the host memory of a structure begins: one behind the other, each at a multiple of 64.
  size_t offset(size_t structure) const {
    size_t at = 0;
    for (size_t i = 0; i < structure; ++i) at += (structures[i]->desc.host_bytes + size_t{63}) / 64 * 64;
    return at;
  }
  size_t bytes() const { return offset(structures.size()); }
};

std::vector<Tested> tested_of(const latticec::Checked& checked);

/// Functions of a class, and lines that add the tested types to a list.
struct Loads {
  std::string functions, adds;
};
Loads csharp_loads(const latticec::Checked& checked, const std::string& space);
Loads typescript_loads(const latticec::Checked& checked, const std::string& space);
/// Lines that add the tested types of generated C++ to a list.
std::string cpp_adds(const latticec::Checked& checked, const std::string& space);

}  // namespace languages
