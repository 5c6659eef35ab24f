# Flags every target of this tree shares, what the public targets hand on, and the one system library the core links.

# Lattice::simulation: for the user's own simulation code, which must give the same bits on server and client.
#
# A compiler that may contract turns a * b + c into one fused multiply-add, which rounds once instead of twice. GCC does
# so by default for processors that have the instruction (-march=native, arm64), and whether it does depends on how
# an expression was inlined. Then a server and a client built for different processors, or at different optimization levels,
# compute different states from the same inputs, and the client sees a misprediction in each tick. -ffp-contract=off
# makes every multiplication and addition round by itself, as IEEE 754 says. The library is compiled the same way.
add_library(lattice_simulation_flags INTERFACE)
add_library(Lattice::simulation ALIAS lattice_simulation_flags)
target_compile_options(lattice_simulation_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)

add_library(lattice_options INTERFACE)
target_compile_features(lattice_options INTERFACE c_std_17 cxx_std_20)
target_link_libraries(lattice_options INTERFACE lattice_simulation_flags)
if(LATTICE_WARNINGS_AS_ERRORS)
  target_compile_options(lattice_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
endif()
if(LATTICE_SANITIZE)
  target_compile_options(lattice_options INTERFACE -fsanitize=${LATTICE_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    # vptr checks need the type information that src/ is built without.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  # A C caller may hand over any int as an enumeration; that it is refused is what tests/abi checks.
  target_compile_options(lattice_options INTERFACE -fno-sanitize=enum)
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

# No language standard comes with the headers: the C interface is C17 and is included from older C++ too. The C++
# headers say themselves that they need C++20.
add_library(lattice_public_headers INTERFACE)
target_include_directories(lattice_public_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# A project that builds libsodium itself may define Lattice::sodium before it adds this folder.
if(NOT TARGET Lattice::sodium)
  list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(LatticeSodium REQUIRED)
  # Whoever links Lattice::lattice_static from another folder links it too.
  set_target_properties(Lattice::sodium PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
