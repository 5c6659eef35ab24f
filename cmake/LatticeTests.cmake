# tests/unit mirrors src: one test program per layer, made of the *_test.cpp files in the layer's folder.
# fuzz/<name>_fuzz.cpp: see fuzz/CMakeLists.txt. Folders with a CMakeLists.txt add their own tests.
#
# Labels: fuzz, layers, browser, perf (timing matters, so not run under sanitizers), threads (run by the
# thread-sanitizer build, which builds only the target thread_tests; the programs of these tests are its dependencies).
# A test that cannot run prints "skipped: <reason>" and returns 77.

find_package(GTest REQUIRED)
find_package(rapidcheck QUIET)

# Test programs cost more to compile than the library, and most run for milliseconds, so the presets compile them
# unoptimized. tests/system simulates for minutes and does not use this.
add_library(lattice_test_flags INTERFACE)
target_compile_options(lattice_test_flags INTERFACE ${LATTICE_TEST_FLAGS})

add_library(lattice_test_options INTERFACE)
target_link_libraries(lattice_test_options INTERFACE lattice_options GTest::gtest)
# Tests include headers of every layer. Nothing else may.
target_include_directories(lattice_test_options INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(lattice_test_options INTERFACE
  LATTICE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
if(TARGET rapidcheck)
  target_link_libraries(lattice_test_options INTERFACE rapidcheck)
endif()

# GoogleTest and RapidCheck are a third of a test's compile time, so they are parsed once for all of tests/unit. A
# launcher such as ccache cannot look into precompiled headers and would cache nothing, so with one they are not used.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  add_executable(test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(test_headers PRIVATE lattice_test_options lattice_test_flags GTest::gtest_main)
  target_precompile_headers(test_headers PRIVATE <gtest/gtest.h> <algorithm> <map> <set> <vector>)
  if(TARGET rapidcheck)
    target_precompile_headers(test_headers PRIVATE <rapidcheck.h>)
  endif()
endif()

function(lattice_unit_tests layer folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${folder}/*_test.cpp)
  if(sources)
    add_executable(test_${layer} ${sources})
    target_link_libraries(test_${layer} PRIVATE
      lattice_test_options lattice_test_flags lattice_${layer} GTest::gtest_main)
    if(TARGET test_headers)
      target_precompile_headers(test_${layer} REUSE_FROM test_headers)
    endif()
    add_test(NAME unit.${layer} COMMAND test_${layer})
  endif()
endfunction()

add_custom_target(thread_tests)
if(TARGET test_admin)
  add_dependencies(thread_tests test_admin)
endif()

get_property(layers GLOBAL PROPERTY LATTICE_LAYERS)
foreach(layer IN LISTS layers)
  get_property(folder GLOBAL PROPERTY LATTICE_LAYER_FOLDER_${layer})
  lattice_unit_tests(${layer} ${folder})
endforeach()
foreach(layer IN ITEMS base fragment reliability replication socket)
  target_link_libraries(test_${layer} PRIVATE allocation_counter)
endforeach()

foreach(folder tests/support tests/system tests/abi tests/fuzz tests/layers tests/docs tests/browser tests/conformance
    tests/models tests/consumer tests/frontdoor tests/latticec fuzz examples)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/${folder})
  endif()
endforeach()
if(LATTICE_BUILD_BENCH AND EXISTS ${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt)
  add_subdirectory(${PROJECT_SOURCE_DIR}/bench)
endif()
