# The two libraries, liblattice.so and liblattice.a, from the same objects of all layers. Only src/abi defines exported
# symbols.

set(objects "")
get_property(layers GLOBAL PROPERTY LATTICE_LAYERS)
foreach(layer IN LISTS layers)
  get_target_property(type lattice_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:lattice_${layer}>)
  endif()
endforeach()

add_library(lattice SHARED ${objects})
add_library(Lattice::lattice ALIAS lattice)
target_link_libraries(lattice PUBLIC lattice_public_headers
  PRIVATE Lattice::sodium $<BUILD_INTERFACE:lattice_core_options>)
target_link_options(lattice PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/lattice.map)
# Calls are bound at start. A call that is bound at its first use saves the vector registers on the stack, and they may
# hold a key.
target_link_options(lattice PRIVATE -Wl,-z,now)
if(LATTICE_WARNINGS_AS_ERRORS AND NOT (LATTICE_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang))
  # Clang's sanitizers leave symbols of a shared library undefined, for the program to define.
  target_link_options(lattice PRIVATE -Wl,--no-undefined)
endif()
# Before 1.0 a minor version may change the binary interface, so it is part of the SONAME: liblattice.so.0.1.
set_target_properties(lattice PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/lattice.map)

add_library(lattice_static STATIC ${objects})
add_library(Lattice::lattice_static ALIAS lattice_static)
target_link_libraries(lattice_static PUBLIC lattice_public_headers PRIVATE Lattice::sodium)
set_target_properties(lattice_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME lattice)

if(NOT LATTICE_INSTALL)
  # As a part of another project, only the targets that the project links are built.
  foreach(layer IN LISTS layers)
    set_target_properties(lattice_${layer} PROPERTIES EXCLUDE_FROM_ALL ON)
  endforeach()
  set_target_properties(lattice lattice_static PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
