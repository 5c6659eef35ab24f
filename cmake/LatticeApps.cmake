# Adds the programs: each folder of apps/, and game-sim/, has a CMakeLists.txt of its own.

if(TARGET lattice)
  foreach(folder game-sim apps)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${PROJECT_SOURCE_DIR}/${folder})
    endif()
  endforeach()
endif()
