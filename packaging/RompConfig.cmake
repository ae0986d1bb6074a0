# find_package(Romp): the library as Romp::pomp, and the launchers
#
#   romp_measure(TARGET...)    compile and link these targets with Romp
#
# Whole projects need none of this: CC=rompcc CXX=rompcxx cmake ...
get_filename_component(_romp_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(ROMP_COMMAND "${_romp_prefix}/bin/romp")
find_package(Threads REQUIRED)

if(NOT TARGET Romp::pomp)
  add_library(Romp::pomp STATIC IMPORTED)
  set_target_properties(Romp::pomp PROPERTIES
    IMPORTED_LOCATION "${_romp_prefix}/lib/libpomp.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_romp_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m"
    # What tools look for in a running program; of executables alone.
    INTERFACE_LINK_OPTIONS "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--dynamic-list=${_romp_prefix}/lib/pomp.exports>")
endif()

function(romp_measure)
  foreach(_target IN LISTS ARGN)
    foreach(_language C CXX Fortran)
      set_property(TARGET ${_target} PROPERTY ${_language}_COMPILER_LAUNCHER "${ROMP_COMMAND};wrap")
    endforeach()
    # The target may have been linked with either signature of the command.
    set_property(TARGET ${_target} APPEND PROPERTY LINK_LIBRARIES Romp::pomp)
  endforeach()
endfunction()
