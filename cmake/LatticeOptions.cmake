# Flags every target shares, and the one system library the core links.

add_library(lattice_options INTERFACE)
target_compile_options(lattice_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  # Simulation results must not depend on whether the compiler fused a multiply and an add.
  -ffp-contract=off)
if(LATTICE_SANITIZE)
  target_compile_options(lattice_options INTERFACE -fsanitize=${LATTICE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    # vptr checks need the type information that src/ is built without.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  target_link_options(lattice_options INTERFACE -fsanitize=${LATTICE_SANITIZE})
endif()
if(LATTICE_COVERAGE)
  # Counters of one thread: atomic ones make the tests three times as slow. Tests with threads are left out.
  target_compile_options(lattice_options INTERFACE --coverage -fprofile-update=single)
  target_link_options(lattice_options INTERFACE --coverage)
endif()
if(LATTICE_VALIDATION)
  target_compile_definitions(lattice_options INTERFACE LATTICE_VALIDATION=1)
endif()
if(LATTICE_CAPTURE)
  target_compile_definitions(lattice_options INTERFACE LATTICE_CAPTURE=1)
endif()

# What src/ is compiled with on top: no exceptions, no run-time type information.
add_library(lattice_core_options INTERFACE)
target_link_libraries(lattice_core_options INTERFACE lattice_options)
target_compile_options(lattice_core_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)

add_library(lattice_public_headers INTERFACE)
target_include_directories(lattice_public_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)

find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
add_library(lattice_system_sodium INTERFACE)
target_link_libraries(lattice_system_sodium INTERFACE PkgConfig::SODIUM)
