# tests/unit mirrors src: one test program per layer, made of that folder's *_test.cpp.
# fuzz/<name>_fuzz.cpp: see fuzz/CMakeLists.txt. Folders with a CMakeLists.txt add their own.
#
# Labels: fuzz, layers, browser, perf (timing matters: not run under sanitizers), threads (what the
# thread-sanitizer build runs). A test that cannot run prints "skipped: <reason>" and returns 77.

find_package(GTest REQUIRED)
find_package(rapidcheck QUIET)

add_library(lattice_test_options INTERFACE)
target_link_libraries(lattice_test_options INTERFACE lattice_options GTest::gtest)
# Tests look at every layer, and only tests do.
target_include_directories(lattice_test_options INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(lattice_test_options INTERFACE
  LATTICE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
if(TARGET rapidcheck)
  target_link_libraries(lattice_test_options INTERFACE rapidcheck)
endif()

function(lattice_unit_tests layer folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${folder}/*_test.cpp)
  if(sources)
    add_executable(test_${layer} ${sources})
    target_link_libraries(test_${layer} PRIVATE lattice_test_options lattice_${layer} GTest::gtest_main)
    add_test(NAME unit.${layer} COMMAND test_${layer})
  endif()
endfunction()

get_property(layers GLOBAL PROPERTY LATTICE_LAYERS)
foreach(layer IN LISTS layers)
  get_property(folder GLOBAL PROPERTY LATTICE_LAYER_FOLDER_${layer})
  lattice_unit_tests(${layer} ${folder})
endforeach()

foreach(folder tests/system tests/abi tests/fuzz tests/layers tests/docs tests/browser tests/conformance
    tests/models fuzz bench)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/${folder})
  endif()
endforeach()
