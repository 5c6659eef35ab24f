# lattice_generate(TARGET FILE...) compiles schema files (*.lattice) to C++ headers that TARGET may include by their names,
# as in #include "game.lattice.h". They are made again when a schema changes.
function(lattice_generate target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/lattice_generated/${target})
  foreach(file IN LISTS ARGN)
    get_filename_component(schema ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    set(header ${folder}/${name}.h)
    add_custom_command(OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND Lattice::latticec cpp ${schema} -o ${header} -d ${header}.d
      COMMAND ${CMAKE_COMMAND} -E touch ${header}
      DEPENDS ${schema} Lattice::latticec DEPFILE ${header}.d
      COMMENT "latticec ${name}" VERBATIM)
    target_sources(${target} PRIVATE ${header})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
