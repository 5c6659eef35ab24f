# liblattice.so: the layers behind the C ABI. Only src/abi defines exported symbols.

if(TARGET lattice_abi)
  get_target_property(abi_type lattice_abi TYPE)
  if(NOT abi_type STREQUAL "INTERFACE_LIBRARY")
    add_library(lattice SHARED ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
    add_library(Lattice::lattice ALIAS lattice)
    target_link_libraries(lattice PUBLIC lattice_public_headers
      PRIVATE -Wl,--whole-archive lattice_abi -Wl,--no-whole-archive lattice_core_options)
    target_link_options(lattice PRIVATE
      -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/lattice.map -Wl,--no-undefined)
    set_target_properties(lattice PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/lattice.map)
  endif()
endif()
