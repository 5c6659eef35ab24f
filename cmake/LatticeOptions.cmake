# The flags that every target of this tree shares, the flags that the public targets hand on, and the one system library
# that the core links.

# Lattice::simulation is for the user's own simulation code, which must give the same bits on server and client.
#
# A compiler may contract a * b + c into one fused multiply-add, which rounds once instead of twice. GCC does so by
# default for processors that have the instruction (-march=native, arm64). Whether it does depends on how an expression
# was inlined. Then a server and a client that were built for different processors, or at different optimization levels,
# compute different states from the same inputs, and the client sees a misprediction in each tick. With
# -ffp-contract=off every multiplication and addition rounds by itself, as IEEE 754 says. The library is compiled the
# same way.
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
    # vptr checks need run-time type information, and src/ is built without it.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  # A C caller may pass any int as an enumeration. tests/abi checks that the library refuses it.
  target_compile_options(lattice_options INTERFACE -fno-sanitize=enum)
  target_link_options(lattice_options INTERFACE -fsanitize=${LATTICE_SANITIZE})
  if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # A C program gets only the sanitizers' part for C, and the library that it links is C++.
    target_link_options(lattice_options INTERFACE $<$<LINK_LANGUAGE:C>:-fsanitize-link-c++-runtime>)
    target_link_libraries(lattice_options INTERFACE $<$<LINK_LANGUAGE:C>:stdc++>)
  endif()
endif()
if(LATTICE_COVERAGE)
  # The counters are for one thread, because atomic counters make the tests three times as slow. Tests with threads
  # are left out.
  target_compile_options(lattice_options INTERFACE --coverage -fprofile-update=single)
  target_link_options(lattice_options INTERFACE --coverage)
endif()
if(LATTICE_VALIDATION)
  target_compile_definitions(lattice_options INTERFACE LATTICE_VALIDATION=1)
endif()
if(LATTICE_CAPTURE)
  target_compile_definitions(lattice_options INTERFACE LATTICE_CAPTURE=1)
endif()

# Further flags for src/: no exceptions, no run-time type information.
add_library(lattice_core_options INTERFACE)
target_link_libraries(lattice_core_options INTERFACE lattice_options)
target_compile_options(lattice_core_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
if(NOT LATTICE_SANITIZE AND NOT LATTICE_COVERAGE)
  # CMake optimizes this build type less than Release, for the sake of debugging programs. A server of an open world
  # takes 4 % less processor time with what Release has.
  target_compile_options(lattice_core_options INTERFACE
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<CXX_COMPILER_ID:GNU,Clang>>:-O3>)
endif()

# Most lines of the functions that run for a packet only refuse or fail. A profile tells GCC which lines run, and those
# then fit into the instruction cache (docs/decisions/0052-a-profile-lays-out-the-library.md). It names objects by their
# paths below this project's build folder, so it also fits a build inside another project. A function that it does not
# cover is compiled as without it. The path of a header is part of the profile of its functions, and headers are read
# from the build folder. So GCC must not refuse a function because of its path (-Wno-coverage-mismatch).
if(LATTICE_PROFILE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    message(FATAL_ERROR "LATTICE_PROFILE is a profile of GCC, and the compiler is ${CMAKE_CXX_COMPILER_ID}. "
      "Build with g++, or without LATTICE_PROFILE.")
  endif()
  if(LATTICE_RECORD_PROFILE)
    target_compile_options(lattice_core_options INTERFACE
      -fprofile-generate=${LATTICE_PROFILE} -fprofile-update=prefer-atomic)
    target_link_options(lattice_core_options INTERFACE -fprofile-generate=${LATTICE_PROFILE})
  else()
    target_compile_options(lattice_core_options INTERFACE
      -fprofile-use=${LATTICE_PROFILE} -fprofile-partial-training -fprofile-correction -Wno-missing-profile
      -Wno-coverage-mismatch)
    # By default GCC compiles for size what runs less than 1/10,000 times as often as the innermost loop. That loop is
    # over the entries of a snapshot, so most of what runs once per packet is rarer. Here all that ran is compiled for speed.
    target_compile_options(lattice_core_options INTERFACE --param=hot-bb-count-fraction=100000000)
    # By the profile, GCC copies messages by string instructions, which take longer to begin than the C library.
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      target_compile_options(lattice_core_options INTERFACE
        -mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign)
    endif()
  endif()
  target_compile_options(lattice_core_options INTERFACE -fprofile-prefix-path=${PROJECT_BINARY_DIR})
elseif(LATTICE_RECORD_PROFILE)
  message(FATAL_ERROR "LATTICE_RECORD_PROFILE needs the folder to write to: LATTICE_PROFILE.")
endif()

# The target of the headers sets no language standard: the C interface is C17, and older C++ may include it too. The C++
# headers themselves check for C++20.
add_library(lattice_public_headers INTERFACE)
target_include_directories(lattice_public_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# A project that builds libsodium itself may define Lattice::sodium before it adds this folder.
if(NOT TARGET Lattice::sodium)
  list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(LatticeSodium REQUIRED)
  # A target in another folder that links Lattice::lattice_static links it too, so it must be visible there.
  set_target_properties(Lattice::sodium PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
