# Finds libsodium, the only library that Lattice links, and defines the target Lattice::sodium.
#
# libsodium comes with a file for pkg-config and none for CMake. This file asks pkg-config if it is installed, and works
# without it too. It is installed beside LatticeConfig.cmake, which uses it.
#
# Variables: LatticeSodium_FOUND, LatticeSodium_VERSION; in the cache LatticeSodium_INCLUDE_DIR, LatticeSodium_LIBRARY.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(LatticeSodium_PC QUIET libsodium)
endif()

find_path(LatticeSodium_INCLUDE_DIR sodium.h HINTS ${LatticeSodium_PC_INCLUDE_DIRS})
find_library(LatticeSodium_LIBRARY sodium HINTS ${LatticeSodium_PC_LIBRARY_DIRS})
mark_as_advanced(LatticeSodium_INCLUDE_DIR LatticeSodium_LIBRARY)

if(LatticeSodium_INCLUDE_DIR AND EXISTS "${LatticeSodium_INCLUDE_DIR}/sodium/version.h")
  file(STRINGS "${LatticeSodium_INCLUDE_DIR}/sodium/version.h" LatticeSodium_VERSION
    REGEX "^#define SODIUM_VERSION_STRING ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" LatticeSodium_VERSION "${LatticeSodium_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LatticeSodium
  REQUIRED_VARS LatticeSodium_LIBRARY LatticeSodium_INCLUDE_DIR
  VERSION_VAR LatticeSodium_VERSION
  REASON_FAILURE_MESSAGE "Lattice needs libsodium with its headers (Debian: libsodium-dev).")

if(LatticeSodium_FOUND AND NOT TARGET Lattice::sodium)
  add_library(Lattice::sodium UNKNOWN IMPORTED)
  set_target_properties(Lattice::sodium PROPERTIES
    IMPORTED_LOCATION "${LatticeSodium_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LatticeSodium_INCLUDE_DIR}")
endif()
