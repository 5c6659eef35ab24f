# What `cmake --install` writes: headers, both libraries, the CMake package, the pkg-config file, the licence. None of
# the files holds an absolute path, so the whole prefix may be moved afterwards.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Lattice)

set_target_properties(lattice_public_headers PROPERTIES EXPORT_NAME headers)
set_target_properties(lattice_simulation_flags PROPERTIES EXPORT_NAME simulation)
install(TARGETS lattice lattice_static lattice_public_headers lattice_simulation_flags EXPORT LatticeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Lattice_Runtime NAMELINK_COMPONENT Lattice_Development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Lattice_Development)
install(EXPORT LatticeTargets NAMESPACE Lattice:: DESTINATION ${package_dir} COMPONENT Lattice_Development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lattice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT Lattice_Development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Lattice_Runtime)

# The names of the C++ run-time libraries, for C programs that link liblattice.a with the C compiler.
set(cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM cxx_runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_DUPLICATES cxx_runtime)

configure_package_config_file(cmake/LatticeConfig.cmake.in ${PROJECT_BINARY_DIR}/LatticeConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LatticeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LatticeConfig.cmake ${PROJECT_BINARY_DIR}/LatticeConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindLatticeSodium.cmake ${PROJECT_SOURCE_DIR}/cmake/LatticeGenerate.cmake
  DESTINATION ${package_dir} COMPONENT Lattice_Development)

# The file for pkg-config: all paths are relative to the file itself.
list(TRANSFORM cxx_runtime PREPEND -l OUTPUT_VARIABLE cxx_runtime_flags)
list(JOIN cxx_runtime_flags " " cxx_runtime_flags)
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libdir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH includedir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(cmake/lattice.pc.in ${PROJECT_BINARY_DIR}/lattice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lattice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT Lattice_Development)
